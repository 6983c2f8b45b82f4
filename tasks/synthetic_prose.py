"""The prose of the synthetic task around its facts: how documents open, what they add, who writes.

*Leads* put a statement into its document: what holds now, what a newer or older record says, what
held until a notice ran out, what a plan intends, what somebody else assumes. They are the cue by
which a careful reader can tell the right statement from the wrong one; none of them names an
answer. ``{own_year}`` and ``{own_month}`` are the paper's own, ``{year}`` is any earlier one.
"""

from __future__ import annotations

PLACES = (
    ("Kråkøya", "krakoya"),
    ("Sušica", "susica"),
    ("Þórsnes", "thorsnes"),
    ("Ballymoyle", "ballymoyle"),
    ("Ødegård", "odegard"),
    ("Łęgowo", "legowo"),
    ("Cap d’Aurèze", "cap-daureze"),
    ("Valdés", "valdes"),
    ("Grünhagen", "grunhagen"),
    ("Hrušov", "hrusov"),
    ("Tessaly", "tessaly"),
    ("Porth Wenlyn", "porth-wenlyn"),
    ("Çamlık", "camlik"),
    ("São Bento", "sao-bento"),
    ("Ahlvik", "ahlvik"),
    ("Mörkret", "morkret"),
    ("Kőhegy", "kohegy"),
    ("Bystřice", "bystrice"),
    ("Inishcarra", "inishcarra"),
    ("Lomvær", "lomvaer"),
    ("Peñalba", "penalba"),
    ("Skálavík", "skalavik"),
    ("Dunmore Head", "dunmore-head"),
    ("Vértesalja", "vertesalja"),
    ("Noirval", "noirval"),
    ("Jezerane", "jezerane"),
    ("Großweiler", "grossweiler"),
    ("Tŷ Gwyn", "ty-gwyn"),
    ("Kadıköprü", "kadikopru"),
    ("Aldersund", "aldersund"),
    ("Żabnica", "zabnica"),
    ("Highmoor", "highmoor"),
)
NATIVE_NAMES = (
    "灯台岬",
    "北浜",
    "المنارة",
    "القصر القديم",
    "松山",
    "산마루",
    "Старая Пристань",
    "Παλιό Λιμάνι",
)
# Foreign projects: an id and the name in running text.
PARTNERS = (
    ("coast-trust", "Coast Trust"),
    ("upland-league", "Upland League"),
    ("model-makers", "Society of Model Makers"),
    ("travel-desk", "Travel Desk"),
    ("heritage-lab", "Heritage Lab"),
)

CURRENT = (
    "",
    "",
    "According to the current guide, ",
    "As the present record has it, ",
    "By this year’s list, ",
)
NEWER = (
    "A new check in {own_month} {own_year} showed that ",
    "The corrected record of {own_year} says that ",
    "After a recount in {own_month} {own_year} the entry reads that ",
    "Measured and looked up again in {own_year}, the record is clear that ",
)
OLDER = (
    "The {own_year} handbook states that ",
    "According to the inventory of {own_year}, ",
    "An older sheet, printed in {own_year}, says that ",
    "In the register of {own_year} it is written that ",
)
STALE = ("Until {date}, ", "For the period that ends on {date}, ", "This notice, valid to {date}, says that ")
DRAFT = (
    "The proposal says that from next season ",
    "In the draft before the board, ",
    "Under the plan that is not yet public, ",
)
FOREIGN = (
    "For its own purposes the {org} assumes that ",
    "In the papers of the {org}, ",
    "The {org} notes, without a source, that ",
)
ASK_NEWER = ("According to the most recent record, ", "By the latest check, ", "As last corrected: ")
ASK_NOW = ("", "At present, ", "As things stand, ")

OPENERS = {
    "guide": (
        "{name} lies a short way out of {place}, and most people come for the view.",
        "Few places near {place} are as well loved as {name}.",
        "People have been coming to {name} for longer than the road from {place} has existed.",
        "If you have one free afternoon in {place}, spend it at {name}.",
    ),
    "handbook": (
        "This handbook is for the staff of {name} and is kept in the office.",
        "New colleagues at {name} should read these pages in their first week.",
        "The notes below describe the daily round at {name}.",
    ),
    "register": (
        "This entry on {name} was copied from the register of {own_year}.",
        "The following was set down about {name} in {own_year}.",
        "In {own_year} a clerk from {place} described {name} as follows.",
    ),
    "survey": (
        "In {own_year} a small team went over {name} with fresh eyes.",
        "This is the summary of the {own_year} review of {name}.",
        "{name} was looked at again in {own_year}, and the findings are below.",
    ),
    "notice": (
        "Notice to all who use {name}.",
        "A notice about {name} was pinned up in {place}.",
        "Please read this notice before you come to {name}.",
    ),
    "memo": (
        "Memorandum on {name}, for members of the board.",
        "This memo on {name} follows the closed session held in {place}.",
        "Please treat this paper about {name} as confidential.",
    ),
    "partner": (
        "The {org} keeps a file of its own on {name}.",
        "This page about {name} was put together by the {org}.",
        "What follows is the {org}’s view of {name}, written in {place}.",
    ),
}
TITLES = {
    "guide": "{name}: a guide",
    "handbook": "{name}: staff handbook",
    "register": "{name}: register of {own_year}",
    "survey": "{name}: review of {own_year}",
    "notice": "{name}: notice of {own_year}",
    "memo": "{name}: memorandum",
    "partner": "{org} on {name}",
}
# Asides of the kinds of documents other than guides, whose asides belong to the domain.
ASIDES = {
    "handbook": (
        "Keys hang behind the second door; sign for them, please, and sign again when you bring them back.",
        "Lost property goes into the green box and is sent to {place} at the end of the month.",
        "If the telephone is dead, walk to the neighbours’ house and ask for {person}.",
        "The first-aid box was refilled last month, and the burn gel is in the fridge.",
        "Write faults into the blue book – not on loose paper, and never on your hand.",
        "Deliveries from {place} come to the side entrance, where the ramp is.",
        "Wet coats may be dried in the passage but not on the heaters.",
        "Groups that arrive without booking are welcome as long as somebody is free to go round with them.",
        "Dr. {person} must be told at once if a child is hurt.",
        "The alarm is tested on the first of the month; warn the neighbours beforehand.",
        "Tea money goes into the tin with the dent.",
        "Anyone who works alone should leave a note with {person} before going up.",
        "In frost, let the outside tap drip – a cracked pipe cost us a whole spring in {year}.",
        "The log is written in ink, in full sentences, and signed.",
    ),
    "register": (
        "The clerk adds that the approach was muddy and the welcome warm.",
        "Two pages are missing here, and the ink of the third has run.",
        "A marginal note, in another hand, praises the soup.",
        "The boundary is given as the old wall, the brook and ‘the large stone’.",
        "Repairs to the roof were put off, as the carpenter {person} had broken his arm.",
        "The copy was compared with the original in {place} and found complete.",
        "Of {it} itself little more is said than that it was in fair order.",
        "The writer complains of the price of lamp oil and of the dialect of {place}.",
        "A pressed fern has left its outline across the lower half of the sheet.",
        "Witnesses to the entry were {person} and a pedlar who could not write.",
        "Nothing is said of the cellar, though it must have existed by then.",
        "The heading is in red, the rest in a brown that was once black.",
    ),
    "survey": (
        "The team stayed for four days and lodged in {place}.",
        "Where papers and things disagreed, the things were believed.",
        "Older figures are kept in the appendix – struck through, but legible.",
        "Thanks are due to {person}, who held the other end of the tape.",
        "Photographs of every side of {it} were taken in even light.",
        "One instrument failed in the rain; its readings have been left out.",
        "A lidar scan (±2 mm) will be added when the files have been cleaned.",
        "Every corner was marked with a brass nail, and the nails were left in place.",
        "A drone was tried but frightened the swallows – the pole camera did as well.",
        "The draft was read by {person} and by two reviewers from {place}.",
        "Uncertain readings are set in grey, and there are few of them.",
        "Weather was kind on three days out of four.",
    ),
    "notice": (
        "We ask for your patience and will take this sheet down when it is out of date.",
        "Questions may be put to {person} or left in the letter box.",
        "A copy hangs in the bakery in {place}.",
        "Those who come by bus should allow a little more time than usual.",
        "The side path stays open, and so does the picnic lawn.",
        "Please keep dogs on a lead while the fence is being mended.",
        "No other change is planned, whatever the signpost says.",
        "The work is paid for by the parish of {place}, to whom many thanks.",
        "Signs in three languages, among them {native}, have been ordered.",
        "Parents may wait in the porch when it rains.",
        "If in doubt, ask {person}, who has the keys.",
        "We are sorry for the noise of the compressor.",
    ),
    "memo": (
        "Nothing in it has been decided, and nothing in it should be quoted.",
        "The chair, {person}, asked for comments by the end of the month.",
        "Neighbours in {place} have not been told and may object.",
        "The auditors would rather wait for a year, and so would the bank.",
        "A short paper on staffing – two posts, perhaps three – will follow.",
        "Minutes of the closed session are kept apart from the others.",
        "If the press should ring, please say that the matter is still open.",
        "The option of doing nothing has been costed too; see the second annex.",
        "{person} abstained and asked that this be minuted.",
        "A friendly architect in {place} has seen the sketches – nobody else has.",
        "The figures were prepared in haste and will be checked.",
        "Copies are numbered and should be returned.",
    ),
    "partner": (
        "The file has not been checked against the owner’s papers.",
        "It was begun by {person} and is updated when somebody finds the time.",
        "Some of the pictures show another place altogether, as readers have pointed out.",
        "The {org} plans a small exhibition in {place} and collects whatever it can get.",
        "Letters about this page are read but rarely answered.",
        "A scale model of {it}, in lime wood, stands in the lobby.",
        "Its members visited in {year} and were shown round by {native_person}.",
        "Corrections are welcome, the page says, and there is a form for them.",
        "The text exists in several languages, in one of which the name is given as {native}.",
        "Much of it follows a brochure that was printed in {place}.",
        "A reader from abroad, {native_person}, sent the photograph at the top.",
        "It has been copied to other pages many times.",
    ),
}
