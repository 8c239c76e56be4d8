"""A detector hides what the mode names shows: it reads what goes out, and never the user's words.

    pip install ./runtime './cli[spacy]'

Any callable that returns starts and ends will do: a trained pipeline of spaCy, or Presidio's analyzer.
"""

import spacy
from textveil import Conversation, Sanitizer

nlp = spacy.blank("en")  # or spacy.load("en_core_web_sm"), which needs no rules
nlp.add_pipe("entity_ruler").add_patterns([{"label": "PROJECT", "pattern": [{"LOWER": "rapid"}, {"LOWER": "cycle"}]}])


def found(text):
    """Returns the start and end of each entity."""
    return [(entity.start_char, entity.end_char) for entity in nlp(text).ents]


conversation = Conversation(Sanitizer(Sanitizer.load().bundle, detector=found))
sent = conversation.outgoing_text("I called Anna Novak about rapid cycle, order 88213.")
print("sent:", sent)
print("back:", conversation.incoming(sent).reply)
