"""Mode ``names``: keeps the words of a public list, and replaces all other words by surrogates.

The random choice of a surrogate, a *draw*, never depends on the original string. The mode reads a text in three passes.
In pass 1, ``tokenizer`` splits a text into tokens. In pass 2, ``spans`` decides which tokens are kept, and which tokens
form one span (the tokens of one entity). In pass 3, ``entity_types`` assigns a type to each span: the result is a
*mention*. ``rewrite`` draws the surrogates and writes them, and ``plan`` has the rewriter of documents.
"""
