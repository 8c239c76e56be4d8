"""Build, certify and sign the bundles that ``textveil`` loads."""
