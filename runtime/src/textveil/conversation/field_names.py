"""Which keys of JSON are names of fields: those in words that everybody uses.

Any other key may name a person, an account or a secret.

A list of what is refused can never be complete (``flast`` is a login name), so this is a list of what stays.
"""

from collections.abc import Collection

from textveil.text.identifiers import split_identifier

#: Words of fields that a list of common words does not have, or that are names of persons too.
FIELD_WORDS = frozenset(
    """
abs account acl addr admin alt ani api apis app apps arg args argv asc ascii assignee assignees async attr attrs auth
authn authz auto avg aws backend base64 bbox bic bin bool boolean btn buf bytes cache cal calc callback cc cfg char
charset checkbox checksum cidr cli cmd cmp cnt cod codec col cols conf config configs const cookie coord coords cors
cpu crc cron crud csrf css csv ctx cur curr cwd dashboard data dataset datasets datatype date datetime db dbname debug
dec decimals def del delta desc dest dev diff dim dims dir dirname dirs dispatch div dns dob doc docs dom domain dst
dt dtype dup ean email emails embed embedding embeddings en endpoint enum enums env eof err errno errors es eta etag
eval exec exp expr ext extras fallback faq favicon fax fetch ffmpeg field fields file filename filenames filepath
filesize filetype float float32 float64 fmt fn font foo fps fr freq frontend ftp func gbp geo geoip geojson gid git
github glob gmt gpu grep grid gtin gui guid gzip hash hashtag hashtags hdr hex homepage hostname href html http https
icon id ide idempotency identifier ids idx iframe img imgs impl inbox inc incr indices info init inode int int32 int64
invoice io ip ips ipv4 ipv6 isbn iso issn iter jpeg jpg json jsonb jsonl jwt kb key keyboard keyword keywords kind kv
kwargs lang lat latency latitude len lib limit linkedin lng loc locale localhost log login logprobs logs lon long
longitude lookup lower lstm lte mac macro mailbox mark markdown max mb md5 mem meta metadata metric metrics mfa mid
middleware mime min misc mkdir mod mode ms msg msgs mtime multi mutex name namespace namespaces nav nbr newsletter
ngram node nodes nonce npm ns null nullable num numeric nums oauth oauth2 obj objs ocr offset og ok on onboarding op
opcode openapi ops opt opts org orig os otp out param params parser passwd passwords path pathname paths pct pdf perf
perms pid pin ping pixel pixels pkg pkgs placeholder plugin plugins png podcast popup pos posix pre prefix prefixes
prev price proc prod prop props proto proxy ptr pub pwd py qa qps qty quantity queries query queue raw readme readonly
rec recv ref refs regex regexp repo repos req reqs resize resp ret retries retry rev rfc rgb rgba rng row rows rpc rpm
rsa rss rtl sandbox schema schemas screenshot sdk sec secs sem semver sender seq serializer sha sha1 sha256 sha512 sid
sku skus sms smtp sparse spec specs sql src ssh ssl sso std stderr stdin stdout stmt str struct stub sub subdomain
submodule subnet subtotal subtype subtypes succ suffix sum svg swap symlink sync sys tag tags tbl tcp tel temp
temperature timeframe timeout timestamp timestamps timezone timezones tls tmp to todo todos token tokenizer tokens
toml toolbar tooltip topk tos trace traceback ts tsv ttl tts tuple tx txn txt typ tz udp ui uid uint unicode unix
unlink upc upper upsert uptime uri uris url urls usd username usernames usr utc utf utf16 utf8 util utils utm uuid
uuids ux val validator vals vat vec vectors ver viewport vm vpc wav webhook webhooks webp website websites widget
widgets wifi www xhr xlsx xml xpath xref xy yaml yml zip zipcode zoom
""".split()
)
_SEPARATORS = frozenset("_.- $@:")
#: Keys with a letter that stands alone, and what headers of HTTP begin with.
_WHOLE, _HEADER = frozenset(("top_k", "top_p", "min_p", "n_results")), "x-"
_MOST_CHARACTERS, _MOST_DIGITS, _MOST_LETTERS = 64, 2, 2


class FieldNames:
    """Tells which keys of JSON are names of fields.

    Args:
        common: The common words of the bundle.
        given: First names.
        family: Family names.
        allowed: Words that the user lets stay.
        denied: Words that never stay.
    """

    def __init__(
        self,
        common: Collection[str],
        given: Collection[str],
        family: Collection[str],
        allowed: Collection[str] = (),
        denied: Collection[str] = (),
    ) -> None:
        self._common, self._given, self._family = common, given, family
        self._allowed, self._denied = allowed, denied

    def is_field(self, key: str) -> bool:
        """Return whether all words of a key are common or of fields, and no two beside each other are a person's name.

        Digits are at most two at the end, or of a word of fields (``sha256``). Letters that stand alone are in no key
        but those of one or two (``x``, ``k_v``): an initial stands before a name.
        """
        if not key.isascii() or len(key) > _MOST_CHARACTERS:
            return False
        if not all(character.isalnum() or character in _SEPARATORS for character in key):
            return False
        if key in _WHOLE:
            return not any(word in self._denied for word in key.split("_"))
        words = _join_digits(split_identifier(key[len(_HEADER) :] if key.lower().startswith(_HEADER) else key))
        if words and words[-1].isdigit() and len(words[-1]) <= _MOST_DIGITS:
            words.pop()
        small = [word.lower() for word in words]
        if not small or not all(map(self._is_known, small)):
            return False
        single = [word for word in small if len(word) == 1]
        if single:
            return len(single) == len(small) <= _MOST_LETTERS
        return not any(map(self._is_person, small, small[1:]))

    def _is_known(self, word: str) -> bool:
        if word in self._denied:
            return False
        return len(word) == 1 or word in FIELD_WORDS or word in self._common or word in self._allowed

    def _is_person(self, word: str, other: str) -> bool:
        """Return whether two words are a first and a family name, in any order, though both are common."""
        pairs = ((word, other), (other, word))
        return any(
            given in self._given and family in self._family and family not in FIELD_WORDS for given, family in pairs
        )


def _join_digits(words: list[str]) -> list[str]:
    """Return words with those of fields that have digits as one: ``sha256``."""
    found: list[str] = []
    for word in words:
        if found and word.isdigit() and (found[-1] + word).lower() in FIELD_WORDS:
            found[-1] += word
        else:
            found.append(word)
    return found
