"""Mode ``names``: keeps words of a public list and replaces all others.

Each replaced string gets a surrogate of its type. The random choice of a surrogate, a *draw*, never depends on the
original string. ``tokenizer`` cuts a text into tokens. ``spans`` decides which tokens are kept and which ones form one
span (the tokens of one entity). ``entity_types`` assigns a type to each span: the result is a *mention*. ``rewrite``
draws and writes the surrogates, and ``plan`` has the rewriter of documents.
"""
