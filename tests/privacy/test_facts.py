"""Facts of the mode ``names``: which public facts each value of the option keeps, and what stays hidden."""

from dataclasses import replace
from typing import Any

import pytest
from fact_exchange import LEVELS, make_plan
from planted import planted
from textveil import Sanitizer
from textveil.text.names.fact_numbers import NumberFacts
from textveil.text.names.fact_strings import FactStrings
from textveil.text.names.plan import NamesPlan
from textveil.text.names.read import NamesReader

#: Texts, and what no value of the option may keep of each.
HIDDEN = [
    ("see https://kowal.com/docs/zorblax/report", "https://kowal.com zorblax"),
    ("see https://www.linkedin.com/in/summer-report", "https://www.linkedin.com/in/summer-report"),
    ("see www.kowal.com/users/report and kowal.org/docs/4821", "www.kowal.com/users/report kowal.org/docs/4821"),
    ("see https://kowal.com/forest-hill and kowal.github.io", "https://kowal.com kowal.github.io"),
    ("the password: kowal.com/order/total", "kowal.com/order/total"),
    ("see https://kowal.com/docs?name=report and https://x@kowal.com/docs", "https://kowal.com/docs?name=report"),
    ("They met Anna June 2022 and True", "Anna June True"),
    ("They met Kowal Present, and the password=True", "Kowal Present True"),
    ("The token: KeyError, the password=String; my name is KeyError", "KeyError String"),
    ("He saw KowalError, JohnException and Kowal The (The Kowal)", "KowalError JohnException Kowal The"),
    ("Mr. Nokia called, I met Nokia; my password instagram is old", "Nokia Nokia instagram"),
    ("The Kowal Nokia saw the Nokia Kowal", "Nokia Nokia"),
    ("He went past 14 Kowal, up 7 Kowal, and lives in 12, Kowal; room 9, Kowal", "14 7 12 9"),
    ("I live in w2, room x1; the pin is h_2", "w2 x1 h_2"),
    ("we met The Kowal, saw The Zorblax and then The", "The Kowal Zorblax"),
    ("on 3 May 2019 - 4 June 2020", "3 May 4 June"),
    ("Eve Good called, and I spoke to Eve Love today", "Eve Good Love"),
    ("he is a pupil at Hillside Primary School in May", "Hillside Primary School"),
    ("born on the 12th in June 1961", "12th June 1961"),
    ("In 1961, in June, on the 12th, at 3:15 we left", "1961 June 12th 3:15"),
    ("Dial 5, 5, 5, 0, 1, 4, 2 now", "5 5 5 0 1 4 2"),
    ("Dial 12, 34, 56, 78 now", "12 34 56 78"),
    ("The 12 is 34 is 56", "12 34 56"),
    ("photo_61_05_12.jpg call_12_34_56_78.txt pin_48_21.txt", "photo_61_05_12.jpg call_12_34_56_78.txt pin_48_21.txt"),
    ("my ssn ends in 42 and starts with 12", "42 12"),
    ("the IP ends in 12 today", "12"),
    ("door 7, bed 3", "7 3"),
    ("he is here\nKowal\t97\tParis", "Kowal 97 Paris"),
    ("he is here\nBen: 97", "Ben 97"),
    ("he is here\nKowal,97", "Kowal 97"),
    ("he met Mr. Docker and Ms. Python", "Docker Python"),
    ("I have 5/ 2021 555 0142", "5 2021"),
    ("my room 12 and the code is 12", "12 12"),
    ("at 14 Prospect St there", "14 Prospect"),
    ("at 643 ul. Biskupa", "643 Biskupa"),
    ("Please bring it to 27b Kowal Crescent, 7c Kowal Crescent and 30B Kowal", "27 7 30"),
    ("the office: 14d Kowal Road, it is from 250m Kowal", "14 250"),
    ("i moved from 27b, kowal crescent to 14d kowal road", "27 14"),
    ("We live at 14d here. The flat is 7d, above 16k Kowal", "14 7 16"),
    ("In Kowal 14d it is", "14"),
    ("the username is happy_mom_83, the password: BlueHorse_Battery99", "happy_mom_83 BlueHorse_Battery99"),
    ("see mcLean_tax.pdf and j_smith", "mcLean_tax.pdf j_smith"),
    ("my dad is 93 years old", "93"),
    ("our pin is 4821 here", "4821"),
    ("he saw Dr. Strange and left", "Strange"),
    ("My name is Python Docker and my wife is Ocean", "Python Docker Ocean"),
    ("I met Summer Rain in town", "Summer Rain"),
    ("a Kowal, our Zorblax, my Summer, an Anna and the Kestrel left", "Kowal Zorblax Summer Anna Kestrel"),
    ("I met Summer Rain this summer in the rain, and Kowal in a kowal", "Summer Rain Kowal kowal"),
    ("we saw J - Assists of it, Dr. - Assists of it", "J Assists"),
    ("the password is a Guide; my brother a Guide left", "Guide Guide"),
    ("the password:\norder_total", "order_total"),
    ("call two/four/seven/seven or five_five_oh_one", "two/four/seven/seven five_five_oh_one"),
    ("it is twoFourSevenNine, or code_one_two_3", "twoFourSevenNine code_one_two_3"),
    ("see https://zorblax.example/two/four/two", "https://zorblax.example/two/four/two"),
    ('see {"password": "order_total", "tokens": ["order_total"]}', "order_total order_total"),
    ('see {"zorblax": "order_total"}', "order_total"),
    ('see {"password": {"value": "order_total", "list": [{"a": "page_total"}]}}', "order_total page_total"),
    ('see {"a": {"token": "order_total", // page_total\n "b": 1}}', "order_total page_total"),
    ('see {"zorblax": ["order_total", ["page_total"]]}', "order_total page_total"),
    ("Patient Summer was seen. My teacher is Summer Rain", "Summer Rain"),
    ("Name Peck came. Kind Regards Rocket", "Peck Rocket"),
    ("a nurse, Willow, and Nurse Rocket came", "Willow Rocket"),
    ("He lives at 14. Then he left", "14"),
    ("my number is 12; his is 34", "12 34"),
    ("we met at Imre u. 12.\nThe door", "12"),
    ("in Calle 15, near the shop; at Kowal ul. 15. Then", "15"),
    ("she was born 12. 6. 1961 here", "1961"),
    ("Call 555-1200 offices and 555-0142 days", "555-1200 555-0142"),
    ("the pin is $4821 and code 00:02:34.070", "4821 00:02:34.070"),
    ("on 12 June 2021 at 00:02:34.070 he left", "12 June 2021 00:02:34.070"),
    ("new Kowalska(x); MacDonald.getValue(); VanDyke.run()", "Kowalska MacDonald VanDyke"),
    ("Zorblax mL, Kowalska GB and 5 Zorblax", "Zorblax Kowalska 5"),
    ("We met baerings, cloone and torphy in town", "baerings cloone torphy"),
    ("The password is atachment here", "atachment"),
    ("his name is atachment, they told us", "atachment"),
    ("Room Seven is ours; they met Seven", "Seven Seven"),
    ("The card 4111111111111111 is valid thru 08/2025; born 08/1961", "08/2025 08/1961"),
    ("on 3 May, not 08/2023, we left", "3 08/2023"),
    ("see anna_page, price_page and max.long in it", "anna_page price_page max.long"),
    ("They live at:\nSuite 845", "Suite 845"),
    ("DEAR MARTHA STONE,\nwe met", "MARTHA STONE"),
    ("We met Jordan Apple in the office, and Jordan Apple left", "Jordan Apple"),
    ("He moved to 12 Rose Garden Street and 7 Old Mill Road", "12 7"),
    ("id;age;score\n17;93;4821\n18;97;4822", "17 93 4821 18 97 4822"),
    ("wir trafen Zorblax, nous avons vu Kowalska, vimos a Wrzosek", "Zorblax Kowalska Wrzosek"),
    ("# Kowalska\nSELECT * FROM t WHERE name = 'Kowalska';", "Kowalska"),
    ('puts "Kowalska"; echo \'Kowalska\'; fmt.Println("Kowalska"); println!("Kowalska");', "Kowalska"),
    ("print('Kowalska'); console.log('Kowalska'); System.out.println(\"Kowalska\");", "Kowalska"),
    ('printf("Kowalska"); <b>Kowalska</b> cout << "Kowalska"; $name = \'Kowalska\';', "Kowalska"),
    ("name,age\nKowal,97\nZorblax,12", "Kowal 97 Zorblax 12"),
    ("1. Kowal\n2. Zorblax\n3. Wrzosek", "Kowal Zorblax Wrzosek"),
    ("They met una here, and she saw val; sie (my friend) and len", "una val sie len"),
    ("It is l'anna and d'zorblax here", "l'anna d'zorblax"),
    ("the password is una palabra, the token: l'image", "una palabra l'image"),
    ("请翻译王明的邮件：Kowal。李和平，はなこ", "请翻译王明的邮件 Kowal 李和平 はなこ"),
    ("请的 in one, the password is 请翻译", "请的 请翻译"),
    ("We spoke to Weronika English there, and in Miss English", "Weronika English"),
    ("In Irish Catholic and Brazilian Jewish parts, to US Jewish parts", "Catholic Brazilian Jewish"),
    ("We asked GP about it, and the GP Zorblax left; G P", "GP Zorblax"),
    ("It is a van Kowal, the van Zorblax and van here", "van Kowal Zorblax"),
    ("vincent van gogh was here with the van zorblax", "van gogh zorblax"),
    ("The Left won, a Left voter and Black, 34, came", "Left Black"),
    ("the pin is 404, my password error 404 and the code 0x80070057", "404 404 0x80070057"),
    ("the password is ERR_CONNECTION_RESET; token error code ERR_TIME_OUT", "ERR_CONNECTION_RESET ERR_TIME_OUT"),
    ("the code v4.2.1, pin v4.2.1, version 10.0.0.1 and v10.0.0.1", "v4.2.1 v4.2.1 10.0.0.1 v10.0.0.1"),
    ("Enter Security Code 45 now, his Login Password 4.2.1 or his Security Code is 45 too", "45 4.2.1 45"),
    ("Then please enter the Security Code 45 now", "45"),
    ("order status 404, error 642, version 202.555.0142", "404 642 202.555.0142"),
    ("May Kowal left. May was here, and May I know", "May May May"),
    ("Tel Kowal and Tel, Kowal", "Tel Tel"),
    ("the pin is 4 x 7 here", "4 x"),
    ("Bank Kowal came. My brother Bank left", "Bank Bank"),
    ("PLEASE CALL ANNA, THIS IS KOWAL of it", "KOWAL"),
    ('{"kowal": 5, "anna": 5}', "kowal anna"),
    ("It is C and F; room 37.5°C, the pin is 37.5°C", "C F 37.5°C"),
    ("je m'appelle Zorblax, me llamo Kowalska, ich bin Wrzosek", "Zorblax Kowalska Wrzosek"),
    ("Ask K about it, and Anna (K) Kowal; room = 12, the pin is [4, 7, 1, 1]", "K 12 4 7 1"),
    ("at Tisza u. 12. It is here; the patient K, age [97, 98]", "12 K 97 98"),
    ("my number is 5 5 5, 0, 1; on 3 May = 5", "5 0 1 3"),
    ("the password: k^2, flat B, ward C, Ward C", "k^2 B C Ward"),
    ("open C:\\Users\\kowal\\report.txt", "C:\\Users\\kowal\\report.txt"),
    ("I asked bill, and bin came; the bill Kowal", "bill bin Kowal"),
    ("Send it to 1180 Old Mill Rd. He lives at 12 Old School Ln", "Old Mill Rd School Ln"),
]
#: Texts, and what a value of the option keeps of each.
KEPT = [
    ("useful", "see https://kowal.com/docs/zorblax-report and kowal.org/case-studies now", "/docs/ case-studies"),
    ("useful", "Kowal Services, MD June 2022 - Present, May 2019 to June 2020", "June Present May"),
    ("plain", "Surveyor Zorblax Kowal came, Pt Zorblax Kowal left. Hola Zorblax Kowal, come", "Surveyor Pt Hola"),
    ("plain", "TENANT ZORBLAX KOWAL\nCFO Zorblax Kowal", "TENANT CFO"),
    ("plain", "return True; and x = False, y = String(x)", "True False String"),
    ("plain", "I get a KeyError and a NullPointerException of it", "KeyError NullPointerException"),
    ("plain", "I met 6 people, 3 children and 10 staff", "6 3 10"),
    ("plain", "fill in [Recipient's Name] of it", "Recipient Name"),
    ("plain", "we left by then The plan was new (500 words) The list of it", "The plan The list"),
    ("plain", "x = str(y) typeof z", "str typeof"),
    ("plain", "we had a Guide on it, and our Platform offers more", "Guide Platform"),
    ("plain", "Data Science is the science of data", "Data Science"),
    (
        "plain",
        'about Kowal: Assists users; by Zorblax - Traditional shops, he said, "Hanging out there"',
        "Assists Traditional Hanging",
    ),
    ("useful", "let x1 and w_i be the sum", "x1 w_i"),
    (
        "useful",
        "Write an Instagram post, a text on youtube and a YouTube Studio plan",
        "Instagram youtube YouTube Studio",
    ),
    ("useful", "How does Netflix earn more than Nokia, Nvidia or Zorblax? Use Google Maps", "Netflix Nokia Nvidia"),
    (
        "useful",
        "It is on google, the Nokia's screen, like Nokia/Nvidia of it",
        "google Nokia/Nvidia",
    ),
    ("useful", "Nokia makes a phone", "Nokia"),
    ("plain", "See Exhibit 8, Kowal and rule 2: Kowal", "8 2"),
    ("public", "see docs.github.com and https://github.com/kowal/report", "docs.github.com https://github.com report"),
    ("plain", "Answer in at most 3 sentences", "3"),
    ("plain", "the lid of 5 km and 20 mg, up by 12%", "5 20 12"),
    ("plain", "write 2-3 short paragraphs of 200 words", "2-3 200"),
    ("plain", "call get_user_name() with customer_id in /home/docs/report.pdf", "get_user_name customer_id report.pdf"),
    ("plain", "let x be the sum", "x"),
    ("plain", 'see {"note": "order_total", "text": "in 3 days"}', "order_total 3"),
    ("plain", 'f({"Zorblax": "a"}); order_total [{"token": ["b"]}, "page_total"]', "order_total page_total"),
    (
        "plain",
        '{"password": {"a": "b"}, "list": "order_total", "Zorblax": {"c": "page_total"}}',
        "order_total page_total",
    ),
    ("useful", "I am 34 years old", "34"),
    ("useful", "we met in June 2023 and in 2019", "June 2023 2019"),
    ("useful", "Please read the Project Status Report", "Project Status Report"),
    ("plain", "The plan is new. - Maintain the records of it.\n* Structure your answer", "Maintain Structure"),
    ("plain", "It works with 20 kWh, 5 mL and 16 GB of it", "20 kWh 5 mL 16 GB"),
    ("plain", "write 500-1000 words in total", "500-1000"),
    ("plain", "throw new HttpClient(x) now", "HttpClient"),
    ("plain", ",".join(["box", "boy", "brain", "bottle"] * 60), "box"),
    ("useful", "the cost of it was 45000€ in all", "45000"),
    ("useful", "the width = 5 + height of it", "5"),
    ("useful", "read this. 2. Then write the rest of it", "2"),
    ("useful", "at 00:02:34.070 he says it", "00:02:34.070"),
    ("useful", "a list: Violin, Battery, Sandbox and more", "Violin Battery Sandbox"),
    ("useful", "LLMs and APIs are new", "LLMs APIs"),
    ("plain", "voy a la casa de un amigo", "de un"),
    ("useful", "We read the atachment of the letter now", "atachment"),
    ("useful", "There are sixteen teams. First of all, read it", "sixteen First"),
    ("useful", "I worked there (06/2019 - 08/2023) as a cook", "06/2019 08/2023"),
    ("useful", "call get_gas_price(max_total) with gasPrice", "get_gas_price max_total gasPrice"),
    ("plain", "Es una palabra que siempre dice", "una palabra"),
    ("plain", "请将这段话翻译成中文：the report。帮我写一封邮件", "请将这段话翻译成中文 the report 帮我写一封邮件"),
    ("plain", "As a UI/UX developer: (ii) design", "UI/UX ii"),
    ("plain", "以下の文章を英語に翻訳してください", "以下の文章を英語に翻訳してください"),
    ("plain", "переведи текст на русский", "переведи текст на русский"),
    ("plain", "Voici l'image et l\u2019histoire de ma vie", "l'image l\u2019histoire"),
    ("plain", "In it val size = 5 and len(items) of it", "val len"),
    ("useful", "# Marketing\nand the plan of it", "Marketing"),
    ("useful", "I get error 404, HTTP status 503 and exit code 137 now", "404 503 137"),
    ("useful", "The error code is 0x80070057, or error ERR_CONNECTION_RESET", "0x80070057 ERR_CONNECTION_RESET"),
    ("useful", "It has version 4.2.1 of it, v4.2.1 and python 3.11.4", "4.2.1 v4.2.1 3.11.4"),
    ("useful", "Please Install Version 4.2.1. Then App Version 4.2.2.", "4.2.1 4.2.2"),
    ("useful", "May I ask for it? It is late. May we call?\nMay your day be good", "May"),
    ("plain", "Will I get it? It is late. Will I?", "Will"),
    ("plain", "The table is 220 x 95 x 76 cm and new", "220 x 95 76"),
    ("plain", "Tel. 020 7946 0958, or Tel: +49 30 12345", "Tel"),
    ("plain", "Bank transfer failed. Food was late", "Bank Food"),
    ("plain", "the guardian of it called", "guardian"),
    ("plain", "It is late. PLEASE HELP, THIS IS URGENT and new", "THIS IS URGENT"),
    ("plain", '{"qty": 5}', "qty"),
    ("plain", "It was 37.5 °C in it, and 38,2°C or 20° F before", "37.5 C 38,2°C 20 F"),
    ("plain", "Add 250g of it. The line is 10m long; a 5g plan\nKowal", "250 10 5"),
    ("useful", "I moved to 27b in the north, and paid $5m for it", "27 5"),
    ("plain", "The delivery van and my old van left. Our van is new", "van"),
    ("useful", "My GP said it, and I asked the new GP.", "GP"),
    ("useful", "It is old. Third, the plan of it is late", "Third"),
    ("useful", "Left the box at door 88213. Left a note: Right, it was there", "Left"),
    ("useful", "She speaks British English, and writes in Swiss German", "British English Swiss German"),
    ("useful", "translate into German, Swiss French or US English", "German Swiss French US English"),
    ("useful", "Prove it for every k: k^2 + 2k + 1 \u2265 0, and f(x) = 3x", "k^2 2 1 0 x 3"),
    ("useful", "Sort the numbers [5, 14, 23], then go on with 5, 14, 23, 32, ...", "5 14 23 32"),
    ("useful", "Train A runs at 10 m/s and train B at 5 km/h; take vitamin C", "Train A 10 B 5 C"),
    ("useful", "List it\nA) Loud\nB) Late? 2. Then it is 3. Kowal", "B 2"),
    ("useful", "It is a 2-minute film: let E[] be {x: 1, 'name':name}", "2 E x name"),
    ("plain", "for i in n: a[i] = x; run it with -v", "i a x v"),
    ("plain", "It was 312 mg/dL, then 5 g/dL and 3 mg/dl; my bill and the bin", "312 mg dL g dl bill bin"),
    ("useful", "We paid EUR 214.50 and CHF 1,200 of it", "214.50 1,200"),
    ("useful", "error code 0x80070005 and update error 0x80240034", "0x80070005 0x80240034"),
]


@pytest.fixture(scope="module")
def sanitizer() -> Sanitizer:
    return Sanitizer.load()


def read_kept(plan: NamesPlan, text: str) -> str:
    """Return the kept text of a text."""
    (read,) = plan.make_reader().read_texts([text])
    return "".join(element for element in read.elements if isinstance(element, str))


def list_hidden(plan: NamesPlan, text: str) -> str:
    (read,) = plan.make_reader().read_texts([text])
    return " ".join(element.span.text for element in read.elements if not isinstance(element, str))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("text", "spans"), HIDDEN)
def test_values_that_identify_together_are_hidden(sanitizer: Sanitizer, level: str, text: str, spans: str) -> None:
    hidden = list_hidden(make_plan(sanitizer, level), text)
    assert [span for span in spans.split(" ") if span not in hidden] == []


@pytest.mark.parametrize(("level", "text", "spans"), KEPT)
def test_facts_are_kept(sanitizer: Sanitizer, level: str, text: str, spans: str) -> None:
    for value in LEVELS[LEVELS.index(level) :]:
        hidden = list_hidden(make_plan(sanitizer, value), text).split(" ")
        assert [span for span in spans.split(" ") if span in hidden] == []


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (("not (depth > 0 and hides_nested)", "True"), '{"token": {"a": "order_total"}}'),
        (("depth = 0 if", "depth = -1 if"), '{"token": "order_total"}'),
    ],
)
def test_a_fault_in_the_values_of_secrets_is_found(
    sanitizer: Sanitizer, change: tuple[str, str], text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = make_plan(sanitizer, "useful")
    assert "order_total" not in read_kept(plan, text)
    faulty = planted(NamesReader._iterate_json_elements, change)
    monkeypatch.setattr(NamesReader, "_iterate_json_elements", faulty)
    assert "order_total" in read_kept(plan, text)


@pytest.mark.parametrize(("count", "is_kept"), [(1_000, True), (1_100, False)])
def test_a_list_without_blanks_has_a_largest_length(sanitizer: Sanitizer, count: int, is_kept: bool) -> None:
    """A pattern that reads a string of megabytes at once would stop all other requests of the gateway."""
    colors = "|".join(["red"] * count)
    assert (list_hidden(make_plan(sanitizer, "useful"), f"Choose {colors} today") == "") == is_kept


def test_a_planted_fault_shows_a_house_number(sanitizer: Sanitizer, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "He went past 14 Kowal"
    assert "14" in list_hidden(make_plan(sanitizer, "useful"), text)
    faulty = planted(NumberFacts.is_kept, ("place.gaps[index + 1][:1] in _NUMBER_ENDS and ", ""))
    monkeypatch.setattr(NumberFacts, "is_kept", faulty)
    assert "14" not in list_hidden(make_plan(sanitizer, "useful"), text)


def test_a_denied_company_is_hidden(sanitizer: Sanitizer) -> None:
    hidden = list_hidden(make_plan(sanitizer, "useful", ("nokia", "maps")), "Use the Nokia and the Google Maps of it")
    assert "Nokia" in hidden
    assert "Google Maps" in hidden


def test_a_country_before_a_group_is_hidden(sanitizer: Sanitizer) -> None:
    assert list_hidden(make_plan(sanitizer, "useful"), "They write to US Jewish schools in US English.") == "US Jewish"


def test_tags_keep_acronyms_of_the_pool(sanitizer: Sanitizer) -> None:
    """With tags alone no acronym is printed as a surrogate, so those of the pool count as listed ones."""
    text = "We read the SWOT for SMEs, a swot analysis, the MOU and the PTA"
    assert list_hidden(make_plan(sanitizer, "public"), text) == "SWOT SMEs swot MOU PTA"
    plan = sanitizer.names_plan(protect="names", facts="useful", style="tag")
    assert list_hidden(plan, text) == "PTA"
    plain = sanitizer.names_plan(protect="names", facts="plain", style="tag")
    assert list_hidden(plain, "A SWOT analysis of the MOU") == "MOU"
    others: list[dict[str, Any]] = [{"deny": ["swot"]}, {"drop": ["acronym"]}]
    for options in others:
        hidden = list_hidden(sanitizer.names_plan(protect="names", facts="useful", style="tag", **options), text)
        assert "SWOT" in hidden


def test_a_planted_fault_keeps_surrogates_for_acronyms(sanitizer: Sanitizer, monkeypatch: pytest.MonkeyPatch) -> None:
    pool = 'self.lists.surrogate_pools["acronym"]'
    monkeypatch.setattr(FactStrings, "surrogates", frozenset[str]())
    changed = planted(FactStrings._acronyms.func, (f"{pool} if self.only_tags else ()", pool))
    monkeypatch.setattr(FactStrings, "_acronyms", property(changed.func))
    assert list_hidden(make_plan(sanitizer, "useful", ("zorblax",)), "We read the SWOT of it") == ""


def test_tags_keep_words_of_the_pools_in_lower_case(sanitizer: Sanitizer) -> None:
    """With tags alone no surrogate is printed, so a common word of a pool may be kept."""
    word = sanitizer.names_plan(protect="names").lists.surrogate_pools["word-s"][0]
    text = f"The {word} of it and {word.title()} in order_{word}"
    assert f"The {word} of" not in read_kept(make_plan(sanitizer, "public"), text)
    plan = sanitizer.names_plan(protect="names", facts="plain", style="tag")
    kept = read_kept(plan, text)
    assert f"The {word} of" in kept
    assert word.title() not in kept
    others: list[dict[str, Any]] = [
        {"facts": "plain", "deny": [word]}, {"facts": "plain", "drop": ["word"]}, {"facts": "none"},
    ]  # fmt: skip
    for options in others:
        other = sanitizer.names_plan(protect="names", style="tag", **options)
        assert f"The {word} of" not in read_kept(other, text)


CORRECTED = [
    ("We read the atachment of the letter now", "attachment"),
    ("I know the sepcification of it by heart", "specification"),
    ("It is the discusseed part of the letter", "discussed"),
]


@pytest.mark.parametrize(("text", "word"), CORRECTED)
def test_a_typing_error_comes_out_corrected(sanitizer: Sanitizer, text: str, word: str) -> None:
    plan = make_plan(sanitizer, "useful")
    assert word in read_kept(plan, text)
    assert "".join(piece for piece, _ in plan.preview(text)) == text
    for other in (text.lower(), f'{{"x": "{text}"}} {text}'):  # no capital; JSON
        assert word not in read_kept(plan, other)
    assert word not in read_kept(make_plan(sanitizer, "plain"), text)


def test_what_stands_beside_an_error_is_settled_before(sanitizer: Sanitizer) -> None:
    """Two errors side by side stay hidden: none is corrected because the other one is."""
    kept = read_kept(make_plan(sanitizer, "useful"), "We read the atachment assumtion of the letter now")
    assert "attachment" not in kept
    assert "assumption" not in kept


@pytest.mark.parametrize(("text", "words"), [("CFO Zorblax Kowal", 2), ("Patient Nurse ZORBLAX Kowal", 1)])
def test_a_name_behind_roles_has_its_own_number_of_words_in_title_case(
    sanitizer: Sanitizer, text: str, words: int
) -> None:
    (read,) = make_plan(sanitizer, "plain").make_reader().read_texts([text])
    assert [element.span.title_case_words for element in read.elements if not isinstance(element, str)] == [words]


@pytest.mark.parametrize("level", LEVELS)
def test_names_in_source_code_are_hidden_at_every_place(sanitizer: Sanitizer, level: str) -> None:
    plan = make_plan(sanitizer, level)
    for text in (text for text, spans in HIDDEN if spans == "Kowalska"):
        assert "Kowalska" not in read_kept(plan, text)


@pytest.mark.slow
def test_a_long_text_in_title_case_hides_its_names(sanitizer: Sanitizer) -> None:
    """One MiB: the time of every part of it is linear."""
    text = "The Annual Report Of Zorblax Kowalska About The Market. " * (2**20 // 56)
    kept = read_kept(make_plan(sanitizer, "public"), text)
    assert "Zorblax" not in kept
    assert "Kowalska" not in kept
    assert "Annual Report" in kept


#: A word that several rows of the table in docs/names-rule.md cover, with options, and whether it is kept.
PRECEDENCE = [
    ("We use Kubernetes for it", {}, True),
    ("We use Kubernetes for it", {"deny": ["kubernetes"]}, False),
    ("We use Kubernetes for it", {"deny": ["kubernetes"], "allow": ["kubernetes"]}, False),
    ("the password is Kubernetes here", {}, False),
    ("the password is Kubernetes here", {"allow": ["kubernetes"]}, True),
    ("The word Docker is listed", {"deny": ["Docker"]}, False),
    ("We use Anna for it", {}, False),
    ("We use Anna for it", {"allow": ["anna"]}, True),
    ("We use Anna for it", {"keep": ["person"]}, True),
    ("We use Anna for it", {"keep": ["person"], "deny": ["anna"]}, False),
]


@pytest.mark.parametrize(("text", "options", "is_kept"), PRECEDENCE)
def test_the_first_list_of_the_table_decides(
    sanitizer: Sanitizer, text: str, options: dict[str, Any], is_kept: bool
) -> None:
    plan = sanitizer.names_plan(protect="names", facts="public", **options)
    assert ("Kubernetes" in read_kept(plan, text) or "Anna" in read_kept(plan, text)) == is_kept


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("see docs.github.com and https://docs.github.com/help now", "docs"),
        ("see dev_report and get_dev_zorblax and xs.dev.report", "dev"),
        ("it is n/a, N/A or (N/A) here", "n/a"),
        ("a Q&A, an R&D budget", "q&a"),
        ("a B&B", "b"),
    ],
)
def test_no_denied_word_is_kept_as_a_part_of_a_string(sanitizer: Sanitizer, text: str, word: str) -> None:
    assert word in read_kept(make_plan(sanitizer, "public"), text).lower()
    assert word not in read_kept(make_plan(sanitizer, "public", (word,)), text).lower()


def test_a_list_of_persons_comes_before_lists_of_facts(sanitizer: Sanitizer) -> None:
    plan = make_plan(sanitizer, "public")
    known = plan.lists.fact_lists
    lists = replace(plan.lists, fact_lists={**known, "capital": known["capital"] | {"Anna"}})
    assert "Anna" not in read_kept(replace(plan, lists=lists), "We use Anna for it")


@pytest.mark.parametrize("facts", ["useful", "public"])
def test_a_name_behind_a_kept_title_is_no_fact(sanitizer: Sanitizer, facts: str) -> None:
    text = "I saw Mr. Docker and Dr. Python; Prof. Excel uses Docker."
    found = sanitizer.sanitize(text, facts=facts, style="tag", keep=["title"])
    assert found.text == "I saw Mr. [person 1] and Dr. [person 2]; Prof. [person 3] uses Docker."


_NUMBER_PLACES = (  # places at which a short number stays
    "error {} in version {}, status {}",
    "we sold {} apples and {} km for ${} or {} euros",
    "at least {} to {} hours, size {} x {} cm",
    "x = {} + 5, f({}) and the list {}, {}, {}",
    "{}. First entry\n{} % of {}",
)


def test_no_rule_of_plain_keeps_a_long_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long numbers are not handed to the rules, and with all rules they are hidden likewise."""
    sanitizer = Sanitizer.load()
    numbers = "12345 10054 65535 100000 8821377 2147483647".split()
    texts = [place.replace("{}", number) for place in _NUMBER_PLACES for number in numbers]
    short = [place.replace("{}", "7") for place in _NUMBER_PLACES]
    before = [sanitizer.preview(text, facts="plain") for text in texts]
    assert any(("7", "kept") in sanitizer.preview(text, facts="plain") for text in short)
    assert not any((number, "kept") in found for found in before for number in numbers)
    monkeypatch.setattr("textveil.text.names.facts.LONG_NUMBERS", frozenset())
    assert [Sanitizer.load().preview(text, facts="plain") for text in texts] == before
