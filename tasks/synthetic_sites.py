"""Places to visit: lighthouses, mountain huts, ferries, mills."""

from __future__ import annotations

from tasks.synthetic_facts import Domain, Fact
from tasks.synthetic_values import COLOURS, PERSON, WEEKDAYS, Clock, Day, Number, Word

LIGHT = Domain(
    kind="Light",
    slug="light",
    it="the lighthouse",
    measured=(
        Fact(
            value=Number(low=18, high=79, form="{n}\u00a0m"),
            clauses=(
                "the lamp of {name} stands {v} above mean high water",
                "{name} shows its light from a height of {v} above mean high water",
            ),
            questions=("How high above mean high water is the lamp of {name}?",),
        ),
        Fact(
            value=Number(low=9, high=28, form="{n} nautical miles"),
            clauses=(
                "the beam of {name} carries {v} in clear weather",
                "in clear weather the beam of {name} can be seen over {v}",
            ),
            questions=("How far does the beam of {name} carry in clear weather?",),
        ),
        Fact(
            value=Number(low=96, high=312, form="{n} steps"),
            clauses=(
                "the stair inside {name} has {v}",
                "it takes {v} to climb the stair inside {name}",
            ),
            questions=(
                "How many steps does the stair inside {name} have?",
                "What is the number of steps on the stair inside {name}?",
            ),
        ),
        Fact(
            value=Day(years=(1842, 1911)),
            clauses=("{name} was first lit on {v}", "the lamp of {name} was first lit on {v}"),
            questions=("When was {name} first lit?", "On what date was the lamp of {name} first lit?"),
        ),
    ),
    changing=(
        Fact(
            value=Clock(first=8, last=11),
            clauses=("{name} opens to visitors at {v}", "the gate of {name} opens to visitors at {v}"),
            questions=("At what time does {name} open to visitors?",),
        ),
        Fact(
            value=Number(low=450, high=1480, form="€{n}", step=10, scale=2),
            clauses=("an adult ticket for {name} costs {v}", "adults pay {v} to enter {name}"),
            questions=(
                "How much does an adult pay to enter {name}?",
                "What does an adult ticket for {name} cost?",
            ),
        ),
        Fact(
            value=PERSON,
            clauses=("{v} is the keeper of {name}", "the keeper of {name} is {v}"),
            questions=("Who is the keeper of {name}?",),
        ),
        Fact(
            value=Word(words=COLOURS),
            clauses=(
                "the daymark of {name} is painted {v}",
                "the band on the tower of {name} is painted {v}",
            ),
            questions=("In what colour is {name} painted?",),
        ),
    ),
    asides=(
        "On older charts {it} is marked {native}, and some pilots still use that name.",
        "The path from {place} is steep near the end, so sturdy shoes are a good idea.",
        "Gulls nest on the north side, and the fence there stays shut until they have left.",
        "The lens came by sea from a workshop in {place} and was carried up in eleven crates.",
        "Dr. {person} wrote a short history of {it} that is sold at the kiosk.",
        "In fog the horn can be heard as far as the fish market.",
        "A family of painters – three generations of them – lived in the cottage until {year}.",
        "The visitors’ book of {year} was signed by {native_person}, among many others.",
        "Its windows face south-west, and in winter the spray freezes on them.",
        "The old café “Zum Anker” has no sign, but everyone in {place} knows the door.",
    ),
)

HUT = Domain(
    kind="Hut",
    slug="hut",
    it="the hut",
    measured=(
        Fact(
            value=Number(low=1180, high=2890, form="{n}\u00a0m"),
            clauses=(
                "{name} stands at {v} above sea level",
                "the terrace of {name} lies {v} above sea level",
            ),
            questions=("At what height above sea level is {name}?",),
        ),
        Fact(
            value=Number(low=18, high=96, form="{n} beds"),
            clauses=("{name} has {v} under its roof", "there are {v} in the dormitories of {name}"),
            questions=("How many beds does {name} have?",),
        ),
        Fact(
            value=Number(low=900, high=4800, form="{n} litres", step=50),
            clauses=("the rain tank behind {name} holds {v}", "{name} keeps {v} of water in its rain tank"),
            questions=("How much water does the rain tank of {name} hold?",),
        ),
        Fact(
            value=Number(low=45, high=240, form="{n} minutes", step=5),
            clauses=(
                "the walk from the car park to {name} takes {v}",
                "{name} is {v} on foot from the car park",
            ),
            questions=("How long is the walk from the car park to {name}?",),
        ),
    ),
    changing=(
        Fact(
            value=PERSON,
            clauses=("{v} is the warden of {name}", "the warden of {name} is {v}"),
            questions=("Who is the warden of {name}?",),
        ),
        Fact(
            value=Clock(first=5, last=8),
            clauses=("breakfast at {name} is served from {v}", "{name} serves breakfast from {v}"),
            questions=("From what time is breakfast served at {name}?",),
        ),
        Fact(
            value=Number(low=1800, high=4950, form="CHF {n}", step=50, scale=2),
            clauses=(
                "a night in the dormitory of {name} costs {v}",
                "{name} charges {v} for a night in the dormitory",
            ),
            questions=("What does a night in the dormitory of {name} cost?",),
        ),
        Fact(
            value=Day(),
            clauses=(
                "the helicopter brings supplies to {name} on {v}",
                "supplies reach {name} by helicopter on {v}",
            ),
            questions=("On what day does the helicopter bring supplies to {name}?",),
        ),
    ),
    asides=(
        "Climbers from abroad know the ridge above it as {native}.",
        "The stove is older than the roof, and nobody is allowed to polish it.",
        "Sheep from {place} graze on the slope, and their bells carry a long way at night.",
        "A cabinet in the hall holds ropes, a barometer and a book of pressed flowers.",
        "After the storm of {year} the west wall was rebuilt in larch.",
        "Prof. {person} measured the snow here every spring for half a lifetime.",
        "Boots stay in the porch; felt slippers – all sizes – hang on the wall.",
        "The register of guests from {year} names {native_person} and two guides.",
        "In clear weather you can see the lakes and, far beyond them, the church tower of {place}.",
        "The sign says “Ruhe, bitte”, and after ten nobody speaks above a whisper.",
    ),
)

FERRY = Domain(
    kind="Ferry",
    slug="ferry",
    it="the ferry",
    measured=(
        Fact(
            value=Number(low=12, high=85, form="{n} minutes"),
            clauses=("a crossing with {name} takes {v}", "{name} needs {v} from pier to pier"),
            questions=("How long does a crossing with {name} take from pier to pier?",),
        ),
        Fact(
            value=Number(low=11, high=39, form="{n}\u00a0m", scale=1),
            clauses=("the hull of {name} draws {v} when laden", "{name} has a draught of {v} when laden"),
            questions=("What is the draught of {name} when laden?",),
        ),
        Fact(
            value=Number(low=8, high=64, form="{n} cars"),
            clauses=("the deck of {name} takes {v}", "{name} has room for {v} on its deck"),
            questions=("How many cars does the deck of {name} take?",),
        ),
        Fact(
            value=Day(years=(1931, 1994)),
            clauses=("{name} was launched on {v}", "the hull of {name} was launched on {v}"),
            questions=("When was {name} launched?",),
        ),
    ),
    changing=(
        Fact(
            value=Clock(first=5, last=8),
            clauses=(
                "the first departure of {name} is at {v}",
                "{name} leaves for the first time of the day at {v}",
            ),
            questions=("At what time is the first departure of {name}?",),
        ),
        Fact(
            value=Number(low=28, high=96, form="{n} kr"),
            clauses=("a single fare on {name} is {v}", "foot passengers pay a single fare of {v} on {name}"),
            questions=("What is the single fare on {name}?",),
        ),
        Fact(
            value=PERSON,
            clauses=("{v} is the captain of {name}", "the captain of {name} is {v}"),
            questions=("Who is the captain of {name}?",),
        ),
        Fact(
            value=Day(),
            clauses=(
                "{name} goes into dry dock on {v}",
                "the yearly stay of {name} in dry dock begins on {v}",
            ),
            questions=("On what day does {name} go into dry dock?",),
        ),
    ),
    asides=(
        "Commuters call it {native}, after the shop beside the old slip.",
        "The crossing is calm in summer, but the bar off {place} can be rough when the wind backs east.",
        "Bicycles travel free, and so do dogs that stay on the lower deck.",
        "A brass plate in the saloon remembers the winter of {year}, when the sound froze over.",
        "Dr. {person} counted porpoises from the rail for eleven summers.",
        "The kiosk sells cardamom buns, coffee and – on Fridays – smoked eel.",
        "Children like the engine-room window, which steams up within minutes.",
        "The painting in the saloon is by {native_person}, who crossed every day.",
        "Lorries wait on the left, and everyone else lines up by the café “Måken”.",
        "The whistle was taken from a steamer that was broken up at {place} in {year}.",
    ),
)

MILL = Domain(
    kind="Mill",
    slug="mill",
    it="the mill",
    measured=(
        Fact(
            value=Number(low=90, high=160, form="{n}\u00a0cm"),
            clauses=(
                "the running stone of {name} measures {v} across",
                "{name} grinds with a running stone {v} across",
            ),
            questions=("How wide is the running stone of {name}?",),
        ),
        Fact(
            value=Number(low=21, high=68, form="{n}\u00a0m", scale=1),
            clauses=(
                "the water at {name} falls {v} to the wheel in spring",
                "the wheel of {name} has a fall of water of {v} in spring",
            ),
            questions=("How far does the water at {name} fall to the wheel in spring?",),
        ),
        Fact(
            value=Number(low=120, high=640, form="{n}\u00a0kg", step=5),
            clauses=("{name} turns out {v} of flour a day", "the daily output of flour at {name} is {v}"),
            questions=("How much flour does {name} turn out in a day?",),
        ),
        Fact(
            value=Day(years=(1768, 1887)),
            clauses=("the wheel of {name} first turned on {v}", "{name} ground its first grain on {v}"),
            questions=("On what date did {name} begin to work?",),
        ),
    ),
    changing=(
        Fact(
            value=PERSON,
            clauses=("{v} is the miller at {name}", "the miller at {name} is {v}"),
            questions=("Who is the miller at {name}?",),
        ),
        Fact(
            value=Clock(first=9, last=12),
            clauses=("the shop of {name} opens at {v}", "{name} opens its shop at {v}"),
            questions=("At what time does the shop of {name} open?",),
        ),
        Fact(
            value=Number(low=320, high=890, form="€{n}", step=10, scale=2),
            clauses=("a bag of rye flour from {name} costs {v}", "{name} sells a bag of rye flour for {v}"),
            questions=("What does a bag of rye flour from {name} cost?",),
        ),
        Fact(
            value=Word(words=WEEKDAYS),
            clauses=("grain is ground at {name} on {v}", "{name} grinds grain on {v}"),
            questions=("On which days of the week is grain ground at {name}?",),
        ),
    ),
    asides=(
        "A map in the hall gives its older name, {native}, in faded ink.",
        "The race was dug by hand, and the spoil still forms a bank along the lane to {place}.",
        "Swifts nest under the eaves, and nobody mends that side before they leave.",
        "In {year} the gearing was copied, tooth by tooth, for a museum in {place}.",
        "Dr. {person} found medieval pollen in the mud of the pond.",
        "Bakers swear by the bran, which is sold by the scoop – never by weight.",
        "The sluice-keeper’s bench is carved with dates, hearts and one very good trout.",
        "A film was shot here in {year}; its director, {native_person}, came back twice.",
        "When the wheel turns you feel it in the floor before you hear it.",
        "The sign over the door reads “Gott zum Gruß” and has been repainted many times.",
    ),
)
