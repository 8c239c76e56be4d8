"""Whose work the English parts of a bundle derive from, as manifests and cards say it."""

MINILM = "Distances derive from sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0)."
WORDS = "The words and their frequencies derive from wordfreq (data CC BY-SA 4.0) and the BERT vocabulary (Apache-2.0)."
NEVER_DRAWN = "The list of words that are never drawn is based on LDNOOBW (CC BY 4.0)."
SKELETON = (
    "The lists of names, places and organizations derive from the US Census of 1990 and its titles of industries "
    "(public domain), GeoNames (CC BY 4.0), Wikipedia (CC BY-SA), Faker and pytickersymbols (MIT): see artifacts/lists."
)
NEIGHBORS = (
    "The neighbors of the staircase derive from GloVe (PDDL), lemminflect and vaderSentiment (MIT) and WordNet 3.1 "
    "(Princeton University): see artifacts/words."
)
NAMES_LISTS = "The card of this bundle (README.md) has the sources and licenses of the lists of the rung names."
#: License of a bundle that has the English words, or the English lists of the skeleton.
ENGLISH_LICENSE = "Apache-2.0 AND CC-BY-4.0 AND CC-BY-SA-4.0 AND MIT"


def credited(attribution: str, *credits: str) -> str:
    """Returns an attribution with more credits, each of them once."""
    return " ".join([attribution, *(credit for credit in credits if credit not in attribution)]).strip()
