"""Sanitize a column of a Hugging Face data set in memory: nothing is written to the cache.

pip install ./runtime './cli[datasets]'
"""

from datasets import Dataset
from textveil_cli.integrations.datasets import SanitizeColumns, sanitize

tickets = Dataset.from_dict(
    {"note": ["Anna Novak has a broken printer.", None, "My invoice is wrong."], "stars": [2, 5, 1]}
)

print(sanitize(tickets, "note")["note"][:])

# The same with map. Without keep_in_memory it would write all columns to the disk; batched=True is faster.
rewrite = SanitizeColumns("note")
print(tickets.map(rewrite, batched=True, keep_in_memory=True, load_from_cache_file=False)["note"][:])
