"""Build, certify and sign bundles (folders with word lists, tables or a model), which ``textveil`` loads."""
