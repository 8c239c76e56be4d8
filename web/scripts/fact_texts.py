"""Prompts by chance that meet the rules of the option ``facts``, and a bundle with lists of public facts."""

import json
import random
import re
import shutil
from pathlib import Path

import damaged
import names_soup

#: Public facts of each kind for a copy of a bundle. Some entries are names, surrogates, cities or months too.
FACT_LISTS = {
    "term": """api|backend|boston|bug|dosage|frontend|gradient|ibuprofen|javascript|json|kubernetes|numpy|pandas|
paracetamol|playlist|postgresql|python|rose|runtime|schema|sql|typescript|unittest|webhook|élan""",
    "capital": """Boston|Docker|GitHub|Java|JavaScript|Kubernetes|Linux|PostgreSQL|Python|React|Rust|Scrum|TensorFlow|
Unicode|Wi-Fi|macOS""",
    "company": "Acme|Amazon|Apple|Google|Microsoft|OpenAI|Siemens|YouTube",
    "acronym": "AI|API|CPU|CSV|HTML|HTTP|JSON|SQL|UI|URL|XML",
    "foreign": "avec|boston|dziękuję|gracias|mit|und|zorbs",
    "language": "arabic|dutch|english|french|german|italian|polish|spanish|ukrainian",
}
#: Slots of templates and their fillers; a filler may have slots. ``N`` is a number, ``NAME`` and ``STRING`` are of
#: the texts at random.
SLOTS = {
    "NUM": """1|2|3|5|7|12|30|89|90|99|100|200|250|404|1,250|12,500|3.5|0.25|12.75|1961|1984|1999|2021|2024|12345|
1234567|007|100,000,000|1.234.567""",
    "UNIT": "km|mg|GB|%| %|px|hours|years|minutes|percent|-minute|°C|kg|words|ms| mm| lines|th",
    "PLURAL": "sentences|words|boxes|churches|dishes|classes|stories|people|news|dogs|paragraphs|ideas|examples",
    "ADJ": "short|new|long|good|simple|big|red|different|Anna|zorb",
    "COUNTER": "version|step|page|chapter|at least|at most|more than|less than|line|grade|Version",
    "SECRET": "password|pin|token|api key|secret|code|passphrase|username",
    "ADDRESS": "room|order|account|zip|flight|invoice|phone|case|room no.|extension",
    "ROLE": "patient|client|nurse|Patient|Client|Manager|manager|Nurse|Dr.|Mr.|President|customer|my boss",
    "START": "Will|May|Once|Support|Price|Said|Rose|WILL|Mark|Hope|Bill|Check|Don't",
    "AFTER": "you|the|is|a|of|, what|, and|NAME|TERM",
    "KIN": "brother|wife|mother|friend|colleague",
    "MONEY": "dollars|euros|USD|INR|million|bucks|pounds",
    "SIGN": "$|€|£|¥|#|-",
    "MONTH": "January|March|May|June|july|Sept|December",
    "DAY": "Friday|Monday|friday|Sun",
    "LANGUAGE": "French|German|Polish|english|Spanish|Buddhist",
    "TECH": """Python|Docker|JavaScript|Kubernetes|PostgreSQL|Java|React|Rust|GitHub|macOS|iPhone|Wi-Fi|ChatGPT|
getUserName""",
    "FIRM": "Google|Amazon|Siemens|Apple|Acme|Zorb Inc.",
    "ACRONYM": "API|JSON|SQL|HTML|UI|NASA|ZQX|CPU",
    "TERM": "kubernetes|javascript|python|api|ibuprofen|backend|webhook|boston|rose|zorbs|json|sql|élan",
    "HEADING": """Project Status Report|Business Plan|The Final Report|Key Points To Remember|Total Cost|Summary|
Meeting Notes And Next Steps|Good Family Doctor|Dear Anna Novak|Hospital Bank Report|WHAT TO DO NEXT|Terms Of Use|
Introduction|Conclusion|DEAR MARTHA STONE|Requirements|Anna Work Plan|Working Experience""",
    "PHRASE": """Best Regards|Kind regards|Good morning|Good|Dear|Hi|Thanks|Thank|et al|co-workers|co|Hi Anna Novak|
Kind Regards NAME|Happy Birthday|Q:|A:|Human:|K:|New""",
    "FIELD": "Name|Company Name|Your Name|Recipient|Weight|Price|Grade|Page|Chapter|Plan|Section|First Name|Hill|Order",
    "CHOICE": "A. Loud|B. Difficult|C. Late|D. Low|B. NAME|J. Difficult|C. The|A) Late|B. Education",
    "SHORT": "IPv4|i32|B2:B10|UI|Ui|USB-C|Wi-Fi|AA|AAA|UV|AI|utf-8|MP3|C7",
    "LEAD": "the|this|section|chapter|a|my|called|see|under",
    "CODE": """customer_id|getUserName|get_user_name()|np.mean(x)|self.zorb_index|user_name_2|item_200|item_201|
/home/docs/report.pdf|/home/novak/report.txt|report_final.pdf|kowal_total.py|mcLean_tax.pdf|j_smith|a.kowal(x)|
x.get_value()|HTTPServer|novak@zorb|https://x.org/a_b|C:\\users\\novak\\plan.doc|src/main/app.py|$total_cost
#main-title|
int_idx|str.format|van_der_list|5x5|1920x1080|1920×1080|5/5|4.5/5|90/100|7/10|10-20|5–7|a1b2c3d4e5|zorb-index|
data.frame|config.yaml|io.config
KeyError|KowalError|IOException|str(x)|x = False|y: String = x|x1|w_i|w2|Date(x)|NULL
www.zorb.com|x_1_2|BlueHorse_Battery99|zq_zx_list|user=novak_id|my_file.csv|list.io""",
    "TIME": "3:15|7pm|10:30-11:45|9am|08:51:06",
    "DATE": "5 May|June 12th|2020-02-01|3rd of June|12/5/2021|the 12th|1960s|2021-2023|2021/22|80s|Summer 2021",
    "PLACE": "France|Germany|the United States|Boston|Poland|Lake Erie|the Netherlands",
}
TEMPLATES = """
Answer in COUNTER NUM PLURAL.|Write NUM ADJ PLURAL about TERM and TERM|NUMUNIT and NUM UNIT of TERM
NUM to NUM PLURAL|the SECRET is NUM|SECRET: CODE|SECRET TECH TERM|ADDRESS NUM, NUM PLURAL|it costs SIGNNUM
it costs NUM MONEY|NUM MONEY or NUM PLURAL|ROLE TECH said|ROLE. HEADING|TECH's KIN|in MONTH|in MONTH NUM|since NUM
early MONTH, NUM|on DAY|DAY NAME|MONTH DATE|translate to LANGUAGE|in LANGUAGE|the LANGUAGE language|LANGUAGE text
a LANGUAGE NAME|use TECH and ACRONYM|TECH ACRONYM|FIRM TECH|NAME works at FIRM with TECH|HEADING|# HEADING|HEADING:
LEAD HEADING|HEADING NAME|LEAD HEADING is good|CODE|call CODE with CODE|"CODE"|NAME, NUM, from PLACE
he is NUM years old|aged NUM|NUM-year-old|NUM years of age|the NUMth ADJ dog|the 3rd good dog|at TIME|TIME DATE|DATE
on DATE at TIME|about NUM of them|the NUM is good.|NUM.|x|n|y = NUM * x|the NUM and the NUM|NUM, NUM, NUM|NUM NAME
NAME NUM|NUM CODE|{"NUM": NUM, "TERM": "HEADING", "k": ["CODE", NUM, "NUM PLURAL"]}
{"CODE": "NAME \\n NUM UNIT \\u00e9 TECH"}|from PLACE in NUM|STRING|NUM minus NUM|between NUM and NUM PLURAL
NUM ADJ ADJ PLURAL|one NUM two|NUM, and NUM PLURAL|two NUM PLURAL|ROLE NAME
PHRASE NAME|PHRASE AFTER|[FIELD]|{FIELD}|<FIELD of NAME>|FIELD: NUM|FIELD: TERM|FIELD NUM|FIELD is good
CHOICE sounds|CHOICE sounds CHOICE subject CHOICE NAME|SHORT lights|the SHORT|SHORT and SHORT|NUM SHORT batteries
a plan, FIELD check, FIELD|Third FIELD|First HEADING|NUM-NUM km|NUM- it is|NUM. the|'The plan
$ NUM FIELD expenses NUM FIELD
boasts New cabinets
an Instagram TERM|on youtube|my YouTube Studio PLURAL|a LinkedIn ROLE|my Airbnb job|NAME YouTube
by then The plan of it|(it) The plan of NAME|met The NAME|[Recipient's Name]|[NAME's Name]|NUM people
NUM staff|NUM young men
{"NAME": ["CODE"], "token": {"TERM": ["CODE"]}} CODE
START AFTER the doctor|Nurse Anna Novak|Client Novak|Good Patient Rose King|My Manager Mark Smith|START AFTER
"""
_SLOT = re.compile("|".join(map(re.escape, sorted([*SLOTS, "NAME", "STRING"], key=len, reverse=True))))
_LISTED_SLOTS = {name: names_soup.parts_of(text.replace("|\n", "|")) for name, text in SLOTS.items()}
_LISTED_TEMPLATES = names_soup.parts_of(TEMPLATES)
_GAPS = [" "] * 8 + ["\n"] * 3 + [". "] * 4 + [", ", "; ", ": ", " (", ") ", "\n\n", " - ", "", "\u2028", "? ", "! "]


def make_prompt(chance: random.Random) -> str:
    """Return a prompt by chance. Few are so long that they are read in several batches."""

    def fill(slot: re.Match[str]) -> str:
        if slot[0] in ("NAME", "STRING"):
            return chance.choice(names_soup.NAMES if slot[0] == "NAME" else names_soup.STRINGS)
        return chance.choice(_LISTED_SLOTS[slot[0]])

    parts: list[str] = []
    length = chance.choices((1, 3, 8, 20, 900), (20, 50, 25, 5, 0.1))[0]
    for _ in range(chance.randint(1, length)):
        parts.append(_SLOT.sub(fill, chance.choice(_LISTED_TEMPLATES)))
        parts.append(" " if length > 20 and chance.random() < 0.98 else chance.choice(_GAPS))
        if chance.random() < 0.2:
            parts.append(chance.choice(names_soup.SHOWN) + " ")
    text = "".join(parts)
    return chance.choices((text, text.lower(), text.upper(), text.title()), (17, 1, 1, 1))[0]


def add_fact_lists(bundle: Path, folder: Path) -> Path:
    """Write a copy of a bundle whose lists of public facts have the entries of ``FACT_LISTS`` too."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(bundle, folder)
    mechanism, manifest = (damaged.read_json(folder / name) for name in ("mechanism.json", "manifest.json"))
    for kind, text in FACT_LISTS.items():
        path = folder / f"facts.{kind}.txt"
        entries = {*names_soup.parts_of(text.replace("|\n", "|"))}
        entries |= {*path.read_text(encoding="utf-8").splitlines()} if path.exists() else set()
        path.write_text("".join(f"{entry}\n" for entry in sorted(entries)), encoding="utf-8")
        for described in (mechanism, manifest):
            described["files"].setdefault(path.name, "")
    mechanism["names"]["facts"] = [*FACT_LISTS]
    (folder / "mechanism.json").write_text(json.dumps(mechanism), encoding="utf-8")
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    damaged.sign(folder)
    return folder
