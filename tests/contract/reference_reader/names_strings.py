"""The mode `names`: the kind and the layout of a string (docs/names-rule.md, "Strings")."""

import re

from .characters import is_in

DASH = "-‐‑‒–"
HEX = "0123456789abcdef"
DOMAINS = set(
    """com org net io gov edu mil int info biz co uk de fr nl eu ru ch au ca jp cn br es it pl se no dk us me tv app
dev ai xyz online site gl ly""".split()
)
FILE_ENDINGS = set(
    """pdf doc docx xls xlsx ppt pptx csv tsv txt md rtf odt htm html xml json yml yaml zip gz tar rar 7z exe py js ts
java cpp jpg jpeg png gif svg bmp mp3 mp4 mov avi wav log sql db cfg conf ini key pem""".split()
)
UNITS = set(
    """km cm mm nm kg mg g ml l lb lbs oz ft in mph kmh hz khz mhz ghz kb mb gb tb k m mn bn b x px p hr hrs h min mins
sec secs s ms d w y yr yrs yo c f v kw mw mah am pm""".split()
)
NUMBERS = {"number", "year", "account", "digits", "phone", "card", "ssn"}
_ALIKE = str.maketrans("ſKİı", "skii")


def plain(string: str) -> str:
    """ASCII letters in lower case, with those that count as one of them; all else as it is."""
    return "".join(c.lower() if c.isascii() else c for c in string.translate(_ALIKE))


def is_decimals(string: str) -> bool:
    """One decimal or more."""
    return string != "" and all(is_in("Nd", c) for c in string)


def split_at(string: str, marks: str) -> list[str]:
    """Return the parts between single marks."""
    return re.split(f"[{re.escape(marks)}]", string)


def kind_of(string: str) -> tuple[str, str]:
    """Return the type of a string, and its layout."""
    if not string.isascii():
        return beyond_ascii(string)
    if "@" in string:
        return ("handle" if string.startswith("@") else "email" if is_email(string) else "key"), ""
    if string.startswith("#"):
        return "hashtag", ""
    low = string.lower()
    for kind, fits in (("mac", is_mac), ("ip", is_ip), ("time", is_time), ("date", is_date), ("ordinal", is_ordinal)):
        if fits(low):
            return kind, time_layout(string) if kind == "time" else ""
    if are_times(low):
        return "time", time_layout(string)
    if is_decade(low):
        return "decade", ""
    if ("." in string or ":" in string) and (is_url(string) or is_email(string)):
        return ("url" if is_url(string) else "email"), ""
    if are_groups(string) or written_number(string) is not None:
        return number_kind(string)
    if "/" not in string and "\\" not in string and low.rpartition(".")[0] and low.rpartition(".")[2] in FILE_ENDINGS:
        return "file", ""
    if is_path(string):
        return "path", ""
    if is_email(string):
        return "email", ""
    return identifier(string), ""


def beyond_ascii(string: str) -> tuple[str, str]:
    """Return the same for a string with anything beyond ASCII."""
    if "@" in string or "＠" in string:
        return ("handle" if string[0] in "@＠" else "email"), ""
    if string[0] == "#":
        return "hashtag", ""
    if not any(is_in("L", c) or is_in("N", c) for c in string):
        return "symbol", ""
    if "." in string and is_url(string):
        return "url", ""
    if all(c.isascii() or c in DASH for c in string) and are_times(string.lower()):
        return "time", time_layout(string)
    return number_kind(string) if are_groups(string) else ("key", "")


def identifier(string: str) -> str:
    """Return the type of a string of no other type: hash, iban, key or id."""
    low, parts = string.lower(), string.lower().split("-")
    if is_iban(string):
        return "iban"
    if [len(part) for part in parts] == [8, 4, 4, 4, 12] and set("".join(parts)) <= set(HEX):
        return "hash"
    if len(low) >= 8 and set(low) <= set(HEX) and set(low) & set("0123456789") and set(low) & set("abcdef"):
        return "hash"
    return "key" if len(string) >= 12 or re.search("[^A-Za-z0-9_-]", string) else "id"


def is_iban(string: str) -> bool:
    """Two capital letters, two digits, and 8 to 30 of both."""
    rest, upper = string[4:], set("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    starts = set(string[:2]) <= upper and is_decimals(string[2:4])
    return starts and 8 <= len(rest) <= 30 and set(rest) <= upper | set("0123456789")


def half_of_code(string: str) -> str:
    """Which half of a postal code an identifier may be, if any."""
    shape = "".join("9" if c.isdigit() else "a" if c.isalpha() else c for c in string)
    if shape == "9aa":
        return "inward"
    return "outward" if shape in ("a9", "aa9", "a99", "a9a", "aa99", "aa9a") else ""


def is_email(string: str) -> bool:
    """Return whether a string has the pattern of an email."""
    name, _, domain = string.partition("@")
    if string.count("@") == 1 and name and "." in domain and not domain.endswith("."):
        return True
    opens = next((place for place, c in enumerate(string) if c in "()[]{}"), len(string))
    word = string[opens : opens + 4]
    return opens > 0 and len(string) > opens + 4 and word[:1] in "([{" and plain(word[1:3]) == "at" and word[3] in ")]}"


def is_url(string: str) -> bool:
    """Return whether a string has the pattern of a URL."""
    low = plain(string)
    if "://" in low or low.startswith(("mailto:", "tel:")) or (low.startswith("www.") and len(low) > 4):
        return True
    host = split_at(low, "/:?#")[0]
    *labels, last = host.split(".")
    if not labels or not all(label and all(is_word_character(c) or c == "-" for c in label) for label in labels):
        return False
    return last in DOMAINS or (
        low[len(host) :][:1] in ("/", "?", "#") and re.fullmatch("[a-z]{2,24}", last) is not None
    )


def is_word_character(character: str) -> bool:
    """Of class L or N, or a low line."""
    return character == "_" or is_in("L", character) or is_in("N", character)


def is_path(string: str) -> bool:
    """Return whether a string has the pattern of a path."""
    if string[0] in "/~\\" or "\\" in string:
        return True
    if string[0].isalpha() and string[1:3] in (":/", ":\\"):
        return True
    parts = string.removesuffix("/").split("/")
    return len(parts) >= 3 and all(parts)


def is_ip(low: str) -> bool:
    """Four numbers with dots, or hexadecimal groups with colons."""
    if re.fullmatch(r"[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}(:[0-9]+)?(/[0-9]+)?", low):
        return True
    groups = low.split(":")
    return len(groups) > 3 and all(len(g) <= 4 and set(g) <= set(HEX) for g in groups) and any(c.isdigit() for c in low)


def is_mac(low: str) -> bool:
    """Six pairs of hexadecimal digits."""
    pairs = split_at(low, ":-")
    return len(pairs) == 6 and all(len(pair) == 2 and set(pair) <= set(HEX) for pair in pairs)


def is_time(low: str) -> bool:
    """Return whether a string is a time: with a colon, or with an ending."""
    ended = next((low.removesuffix(end) for end in ("am", "pm", "a.m", "p.m") if low.endswith(end)), None)
    clock = split_at(low if ended is None else ended, ":")
    if len(clock) in (2, 3) and len(clock[0]) <= 2 and all(map(is_decimals, clock)):
        return all(len(part) == 2 for part in clock[1:])
    if ended is None:
        return False
    hour, dot, minutes = ended.partition(".")
    return len(hour) in (1, 2) and is_decimals(hour) and (not dot or (len(minutes) == 2 and is_decimals(minutes)))


def are_times(low: str) -> bool:
    """Two times, or an hour and a time, with a dash between."""
    parts = split_at(low, DASH)
    hour = len(parts) == 2 and len(parts[0]) in (1, 2) and is_decimals(parts[0])
    return len(parts) == 2 and (hour or is_time(parts[0])) and is_time(parts[1])


def time_layout(string: str) -> str:
    """Return the layout of a time, or of two."""
    found = ""
    for part in re.split(f"([{DASH}])", string):
        clock = part.rstrip("aApPmM.")
        ending = part[len(clock) :]
        upper = ending.endswith("M")
        ending = "p" + ending[1:].lower() if ending else ""
        clock = "0" if len(clock) <= 2 and clock not in DASH else "".join("0" if c.isdigit() else c for c in clock)
        found += clock + (ending.upper() if upper else ending)
    return found


def is_date(low: str) -> bool:
    """Three numbers with the same separator."""
    for separator in "/." + DASH:
        parts = low.split(separator)
        if len(parts) == 3 and all(map(is_decimals, parts)):
            first, second, third = map(len, parts)
            if second <= 2 and ((first <= 2 and third in (2, 4)) or (first == 4 and third <= 2)):
                return True
    return False


def is_ordinal(low: str) -> bool:
    """Digits, perhaps with groups of three behind commas, and an ending."""
    first, *groups = low[:-2].split(",")
    known = low[-2:] in ("st", "nd", "rd", "th") and all(map(is_decimals, (first, *groups)))
    return known and all(len(group) == 3 for group in groups)


def is_decade(low: str) -> bool:
    """As in `1960s` and `60's`."""
    if not low.endswith("s"):
        return False
    number = low[:-1][:-1] if low[:-1].endswith(("'", "’")) else low[:-1]
    century, tens = number[:-2], number[-2:]
    known = century in ("", "15", "16", "17", "18", "19", "20")
    return known and len(tens) == 2 and is_decimals(tens[0]) and tens[1] == "0"


def are_groups(string: str) -> bool:
    """ASCII digits with dots, slashes and dashes between."""
    return all(part and part.isascii() and part.isdecimal() for part in split_at(string, "./" + DASH))


def written_number(string: str) -> tuple[str, str, str] | None:
    """Return the whole, the mark and the decimals of a number."""
    for whole in ("[0-9]{1,3}(?:,[0-9]{3})+", "[0-9]*"):
        found = re.fullmatch(f"({whole})(?:([.,])([0-9]+))?", string)
        if found:
            return found[1], found[2] or "", found[3] or ""
    return None


def is_year(string: str) -> bool:
    """Four digits from 1500 to 2099."""
    return len(string) == 4 and string.isascii() and string.isdecimal() and 1500 <= int(string) <= 2099


def number_kind(string: str) -> tuple[str, str]:
    """Return the type of digits with marks between them, and its layout."""
    if is_year(string):
        return "year", ""
    if len(string) == 9 and string[4] in "/" + DASH and is_year(string[:4]) and is_year(string[5:]):
        return "year-range", string[4]
    short = len(string) == 7 and string[4] in "/" + DASH and is_year(string[:4])
    if short and string[5:] == str(int(string[:4]) + 1)[2:]:
        return "season", string[4]
    number = written_number(string)
    if number is not None:
        whole, mark, decimals = number
        size = len(whole.replace(",", ""))
        if size >= 7 and "," not in whole:
            return "account", ""
        named = str(size) if size <= 4 else next(str(least) for least in (10, 7, 5) if size >= least)
        return "number", f"{named}{'g' if ',' in whole else ''}{mark}{min(3, len(decimals)) if mark else ''}"
    digits = sum(c in "0123456789" for c in string)
    if re.fullmatch(f"[0-9]{{3}}[{DASH}][0-9]{{2}}[{DASH}][0-9]{{4}}", string):
        return "ssn", ""
    if digits >= 7:
        return ("card" if digits >= 13 else "phone"), ""
    return "digits", "".join("0" if c in "0123456789" else c for c in string)


def with_unit(string: str) -> tuple[str, str] | None:
    """Return a number and the unit directly after it."""
    low = plain(string)
    place = next((place for place, c in enumerate(low) if not is_in("Nd", c) and c not in ".,"), len(low))
    parts = split_at(string[:place], ".,")
    if (
        not string.isascii()
        or low[place:] not in UNITS
        or len(parts) > 2
        or not all(part and part.isascii() for part in parts)
    ):
        return None
    return None if is_time(low) or is_decade(low) else (string[:place], string[place:])
