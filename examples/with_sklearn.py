"""Train a classifier on sanitized texts.

    pip install ./runtime './cli[sklearn]'

Texts are sanitized once, before anything else: inside a cross-validation every fold would be one more release.
"""

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from textveil_cli.integrations.sklearn import TextSanitizer

texts = [
    "The team won the match.",
    "The player lost the game.",
    "Shares of the bank fell.",
    "The market paid a profit.",
]
labels = ["sport", "sport", "money", "money"]

sanitized = TextSanitizer(epsilon=12).fit_transform(texts * 5)
classifier = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(sanitized, labels * 5)

print(sanitized[:2])
print(classifier.predict(["The team lost a match."]))
