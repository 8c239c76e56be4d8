"""Let Presidio find personal data, and textveil replace it and restore it in replies.

    pip install ./runtime './cli[presidio]' presidio-analyzer

A pattern recognizer needs no model. Use ``AnalyzerEngine`` instead to find names too.
"""

from presidio_analyzer import Pattern, PatternRecognizer
from presidio_anonymizer import AnonymizerEngine, DeanonymizeEngine
from presidio_anonymizer.entities import OperatorConfig, OperatorResult
from textveil import Conversation
from textveil_cli.integrations.presidio import TextveilOperator, TextveilRestoreOperator

TEXT = "Please call 555-0143 or write to anna.novak@example.org about invoice 20-4431."

phone = PatternRecognizer("PHONE_NUMBER", patterns=[Pattern("phone", r"\b\d{3}-\d{4}\b", 0.8)])
email = PatternRecognizer("EMAIL_ADDRESS", patterns=[Pattern("email", r"\S+@[\w.]+\w", 0.9)])
found = [*phone.analyze(TEXT, ["PHONE_NUMBER"]), *email.analyze(TEXT, ["EMAIL_ADDRESS"])]

engine = AnonymizerEngine()
engine.add_anonymizer(TextveilOperator)
replaced = engine.anonymize(TEXT, found, {"DEFAULT": OperatorConfig("textveil")})

print(replaced.text)  # what was not found, such as the number of the invoice, stays

mapping = {"DEFAULT": OperatorConfig("textveil", {"conversation": Conversation()})}
sent = engine.anonymize(TEXT, found, mapping)
print("sent:", sent.text)

back = DeanonymizeEngine()
back.add_deanonymizer(TextveilRestoreOperator)
print("back:", back.deanonymize(sent.text, sent.items, mapping).text)

address = sent.text.partition(" write to ")[2].partition(" about ")[0]
reply = f"I wrote to {address} today."  # what a model answers
print("reply:", back.deanonymize(reply, [OperatorResult(0, len(reply), "REPLY")], mapping).text)
