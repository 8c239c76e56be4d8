"""Mode ``names``: keeps words of a public list and replaces all others.

Each replaced string gets a surrogate of its type, and the draw of a surrogate never reads the original. ``tokenizer``
cuts a text into tokens. ``spans`` decides which tokens are kept and which form one span, ``entity_types`` assigns the
type of each span, ``rewrite`` draws and writes the surrogates, and ``plan`` has the rewriter of documents.
"""
