"""A chain that sanitizes first. Its tracer is shown here: it never sees the text.

pip install ./runtime './cli[langchain]'
"""

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import FakeListChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from textveil_cli.integrations.langchain import SanitizeFirst


class Tracer(BaseCallbackHandler):
    """Prints the input of every run, as a tracing service would store it."""

    def on_chain_start(self, serialized, inputs, **kwargs):
        """Prints the input of a run."""
        print("traced:", kwargs.get("name"), "|", inputs)


model = FakeListChatModel(responses=["Thank you. We will look into it."])  # stands for a model in the cloud
prompt = ChatPromptTemplate.from_messages([("user", "Answer this customer: {note}")])
chain = SanitizeFirst(keys=["note"], epsilon=8) | prompt | model | StrOutputParser()

print(chain.invoke({"note": "My doctor in Boston said the biopsy was clean."}, config={"callbacks": [Tracer()]}))
