"""Run a spaCy pipeline whose documents contain the sanitized text and nothing of the original.

pip install ./runtime './cli[spacy]'
"""

import spacy

nlp = spacy.blank("en")
nlp.add_pipe("textveil", config={"style": "tag"}, first=True)

texts = ["My doctor in Boston said the biopsy was clean.", "The invoice from the hospital came on Monday."]
for doc in nlp.pipe(texts):
    print(doc._.sanitized)  # which doc.text is too; None where the component was left out

print(nlp.get_pipe("textveil").sanitizer.terms.statement(0).format_line())  # what it promises
