"""Add a detector that replaces what the mode `names` would keep, such as the name of a project.

    pip install ./runtime './cli[spacy]'

A detector is any callable that returns the start and end of each entity: a trained pipeline of spaCy, or Presidio's
analyzer. It gets each output of textveil, never the original text.
"""

import spacy
from textveil import Conversation, Sanitizer

nlp = spacy.blank("en")  # or spacy.load("en_core_web_sm"), which needs no rules
nlp.add_pipe("entity_ruler").add_patterns([{"label": "PROJECT", "pattern": [{"LOWER": "rapid"}, {"LOWER": "cycle"}]}])


def found(text):
    """Return the start and end of each entity."""
    return [(entity.start_char, entity.end_char) for entity in nlp(text).ents]


conversation = Conversation(Sanitizer(Sanitizer.load().bundle, detector=found))
sent = conversation.outgoing_text("I called Anna Novak about rapid cycle, order 88213.")
print("sent:", sent)
print("back:", conversation.incoming(sent).reply)
