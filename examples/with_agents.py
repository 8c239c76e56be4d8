"""Run an agent whose model never gets the user's names; its answer comes back with them.

pip install ./runtime './cli[agents]'
"""

from langchain.agents import create_agent
from langchain.tools import tool
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from textveil_cli.integrations.agents import ConversationMiddleware


class Model(BaseChatModel):
    """Simulate a model in the cloud: print each message that it gets."""

    @property
    def _llm_type(self):
        return "stand-in"

    def bind_tools(self, tools, **kwargs):
        """Return the model itself, which always calls the same tool."""
        return self

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        print("the model got:", messages[-1].text)
        name = " ".join(messages[0].text.split()[2:4])
        if messages[-1].type == "tool":
            reply = AIMessage(content=f"{name}'s orders: {messages[-1].text}")
        else:
            reply = AIMessage(content="", tool_calls=[{"id": "1", "name": "orders_of", "args": {"name": name}}])
        return ChatResult(generations=[ChatGeneration(message=reply)])


@tool
def orders_of(name: str) -> str:
    """Return the orders of a person."""
    print("the tool got:", name)
    return "order 88213, sent to Boston"


agent = create_agent(Model(), [orders_of], middleware=[ConversationMiddleware(restore_tools={"orders_of"})])
said = agent.invoke({"messages": [{"role": "user", "content": "I am Anna Novak and want to see my orders."}]})
print("the user got:", said["messages"][-1].text)
