"""A spaCy pipeline whose documents have their sanitized text beside them.

pip install './runtime[spacy]'
"""

import spacy

nlp = spacy.blank("en")
nlp.add_pipe("textveil", config={"options": {"level": "moderate"}})

texts = ["My doctor in Boston said the biopsy was clean.", "The invoice from the hospital came on Monday."]
for doc in nlp.pipe(texts):
    print(doc._.sanitized)  # send this and nothing else: the Doc itself still has the text

print(nlp.get_pipe("textveil").rewriter.terms)  # what every drawn word is promised
