"""Sanitize first in a chain, so that a tracer never gets the text; and restore the replies of a chat model.

pip install ./runtime './cli[langchain]'
"""

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda
from textveil import Conversation
from textveil_cli.integrations.langchain import ConversationRunnable, SanitizeFirst


class Tracer(BaseCallbackHandler):
    """Print the input of every run, as a tracing service would store it."""

    def on_chain_start(self, serialized, inputs, **kwargs):
        """Print the input of a run."""
        print("traced:", kwargs.get("name"), "|", inputs)


model = FakeListChatModel(responses=["Thank you. We will look into it."])  # stands for a model in the cloud
prompt = ChatPromptTemplate.from_messages([("user", "Answer this customer: {note}")])
chain = SanitizeFirst(keys=["note"], style="tag", facts="useful") | prompt | model | StrOutputParser()

print(chain.invoke({"note": "My doctor in Boston said the biopsy was clean."}, config={"callbacks": [Tracer()]}))


def answer(messages):
    """Simulate a model in the cloud: print the message and answer it."""
    print("the model got:", messages[-1].content)
    name = " ".join(messages[-1].content.split()[2:4]).strip(".")
    return AIMessage(f"Dear {name}, we look for it.")


chat = ConversationRunnable(RunnableLambda(answer), Conversation())
print("the user got:", chat.invoke("I am Anna Novak. Order 88213 is late.").text)
