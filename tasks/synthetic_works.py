"""Places of work: glasshouses, observatories, pumping stations, archives."""

from __future__ import annotations

from tasks.synthetic_facts import Domain, Fact
from tasks.synthetic_values import PERSON, Clock, Day, Number

GLASSHOUSE = Domain(
    kind="Glasshouse",
    slug="glasshouse",
    it="the glasshouse",
    measured=(
        Fact(
            value=Number(low=140, high=980, form="{n} species"),
            clauses=("the collection of {name} counts {v}", "{name} grows {v} in its collection"),
            questions=("How many species does the collection of {name} count?",),
        ),
        Fact(
            value=Number(low=24, high=88, form="{n}\u00a0m"),
            clauses=("the main hall of {name} is {v} long", "{name} has a main hall {v} in length"),
            questions=("How long is the main hall of {name}?",),
        ),
        Fact(
            value=Number(low=1200, high=8600, form="{n} panes", step=4),
            clauses=("the roof of {name} is made of {v}", "there are {v} in the roof of {name}"),
            questions=("How many panes are there in the roof of {name}?",),
        ),
        Fact(
            value=Day(years=(1851, 1929)),
            clauses=("the oldest palm of {name} was planted on {v}", "{name} planted its oldest palm on {v}"),
            questions=("When was the oldest palm of {name} planted?",),
        ),
    ),
    changing=(
        Fact(
            value=Number(low=8, high=21, form="{n}\u00a0°C"),
            clauses=("{name} is kept at {v} at night", "the night temperature in {name} is {v}"),
            questions=("At what temperature is {name} kept at night?",),
        ),
        Fact(
            value=PERSON,
            clauses=("{v} is the curator of {name}", "the curator of {name} is {v}"),
            questions=("Who is the curator of {name}?",),
        ),
        Fact(
            value=Clock(first=16, last=20),
            clauses=("{name} closes at {v}", "the doors of {name} close at {v}"),
            questions=("At what time does {name} close?",),
        ),
        Fact(
            value=Number(low=350, high=1150, form="£{n}", step=10, scale=2),
            clauses=("the entrance fee of {name} is {v}", "{name} asks an entrance fee of {v}"),
            questions=("How much is the entrance fee of {name}?",),
        ),
    ),
    asides=(
        "The bench by the pond was given by readers of a paper in {place}.",
        "A label in the orchid bay still carries the Japanese and Arabic trade names, among them {native}.",
        "Frogs came in with a crate of ferns in {year} and have stayed ever since.",
        "Prof. {person} bred the striped begonia that is now on every postcard.",
        "The iron ribs were cast in {place} and brought here by barge.",
        "On cold mornings the glass clouds over, and gardeners write messages on it – mostly rude ones.",
        "School classes may touch the moss wall, but not the cacti.",
        "A watercolour of the lily tank by {native_person} hangs in the porch.",
        "The boiler house smells of wet stone and, faintly, of vanilla.",
        "The volunteers’ motto, “Il faut cultiver”, is stitched on their aprons.",
    ),
)

OBSERVATORY = Domain(
    kind="Observatory",
    slug="observatory",
    it="the observatory",
    measured=(
        Fact(
            value=Number(low=60, high=240, form="{n}\u00a0cm"),
            clauses=("the main mirror of {name} measures {v} across", "{name} has a main mirror {v} across"),
            questions=("How wide is the main mirror of {name}?",),
        ),
        Fact(
            value=Number(low=640, high=2740, form="{n}\u00a0m"),
            clauses=("the dome of {name} stands at {v} above sea level", "{name} lies {v} above sea level"),
            questions=("At what height above sea level is {name}?",),
        ),
        Fact(
            value=Number(low=35, high=190, form="{n} tonnes", scale=1),
            clauses=("the dome of {name} weighs {v}", "{name} turns a dome of {v}"),
            questions=("How much does the dome of {name} weigh?",),
        ),
        Fact(
            value=Day(years=(1886, 1974)),
            clauses=("{name} saw first light on {v}", "first light at {name} was on {v}"),
            questions=("When did {name} see first light?",),
        ),
    ),
    changing=(
        Fact(
            value=Clock(first=19, last=22),
            clauses=("the public tour of {name} begins at {v}", "{name} begins its public tour at {v}"),
            questions=("At what time does the public tour of {name} begin?",),
        ),
        Fact(
            value=Number(low=40, high=590, form="{n} seconds", step=10),
            clauses=(
                "the survey camera of {name} exposes for {v}",
                "each survey plate at {name} is exposed for {v}",
            ),
            questions=("For how long does the survey camera of {name} expose?",),
        ),
        Fact(
            value=PERSON,
            clauses=("{v} is the director of {name}", "the director of {name} is {v}"),
            questions=("Who is the director of {name}?",),
        ),
        Fact(
            value=Day(),
            clauses=("the open night of {name} is on {v}", "{name} holds its open night on {v}"),
            questions=("On what day is the open night of {name}?",),
        ),
    ),
    asides=(
        "Shepherds called the hill {native} long before anyone put a dome on it.",
        "The road up from {place} is closed to cars after dusk, because headlights spoil the plates.",
        "A clock by a maker in {place} still drives the small refractor, wound every Sunday.",
        "Dr. {person} found two comets from the east balcony and named neither.",
        "The library keeps its night books in order, bound in green until {year} and in grey since.",
        "Bats live in the old transit room; the staff – all five of them – are fond of bats.",
        "Visitors bring blankets, and somebody always brings soup.",
        "A note pinned to the door was left by {native_person} and has never been taken down.",
        "In a good winter the air is so still that the stars hardly flicker.",
        "The words “Ad astra, doucement” are scratched into the handrail.",
    ),
)

PUMPING_STATION = Domain(
    kind="Pumping Station",
    slug="pumping-station",
    it="the station",
    measured=(
        Fact(
            value=Number(low=1200, high=9800, form="{n}\u00a0m³", step=20),
            clauses=("{name} lifts {v} of water a day", "the daily lift of water at {name} is {v}"),
            questions=("How much water does {name} lift in a day?",),
        ),
        Fact(
            value=Number(low=200, high=900, form="{n}\u00a0mm", step=10),
            clauses=("the rising main of {name} is {v} wide", "{name} feeds a rising main {v} wide"),
            questions=("How wide is the rising main of {name}?",),
        ),
        Fact(
            value=Number(low=14, high=96, form="{n} households", step=1),
            clauses=("the first pipe from {name} served {v}", "{name} began by serving {v}"),
            questions=("How many households did {name} serve at first?",),
        ),
        Fact(
            value=Day(years=(1889, 1978)),
            clauses=("{name} was commissioned on {v}", "the first engine of {name} was commissioned on {v}"),
            questions=("When was {name} commissioned?",),
        ),
    ),
    changing=(
        Fact(
            value=Number(low=21, high=88, form="{n} bar", scale=1),
            clauses=("the working pressure of {name} is {v}", "{name} works at a pressure of {v}"),
            questions=("What is the working pressure of {name}?",),
        ),
        Fact(
            value=Number(low=45, high=95, form="{n}\u00a0°C"),
            clauses=("the bearing alarm of {name} trips at {v}", "{name} has its bearing alarm set to {v}"),
            questions=("At what temperature does the bearing alarm of {name} trip?",),
        ),
        Fact(
            value=PERSON,
            clauses=("{v} is the engineer in charge of {name}", "the engineer in charge of {name} is {v}"),
            questions=("Who is the engineer in charge of {name}?",),
        ),
        Fact(
            value=Clock(first=4, last=7),
            clauses=("the standby set of {name} is tested at {v}", "{name} tests its standby set at {v}"),
            questions=("At what time is the standby set of {name} tested?",),
        ),
    ),
    asides=(
        "The hall was tiled by a workshop from {place}, and the floor is washed with vinegar.",
        "Anglers know the outfall as {native}, a name that no plan has ever shown.",
        "The beam engine has not moved since {year}, yet it is oiled every week.",
        "A heron stands on the weir most mornings and ignores the noise.",
        "Dr. {person} took water samples here through the dry summer of {year}.",
        "Spare gaskets hang on nails in the order of their size, smallest by the door.",
        "The lane floods in spring, so the night shift – if there is one – leaves by the upper gate.",
        "A set of drawings signed by {native_person} is kept flat, under glass.",
        "From the roof one can see the reservoir and the chimneys of {place}.",
        "Over the switchboard someone has painted “Pas de panique”.",
    ),
)

ARCHIVE = Domain(
    kind="Archive",
    slug="archive",
    it="the archive",
    measured=(
        Fact(
            value=Number(low=12, high=97, form="{n}\u00a0km", scale=1),
            clauses=("the shelves of {name} run to {v}", "{name} fills {v} of shelves"),
            questions=("How long are the shelves of {name} in all?",),
        ),
        Fact(
            value=Number(low=11000, high=98000, form="{n} volumes", step=50),
            clauses=("{name} holds {v}", "there are {v} in {name}"),
            questions=("How many volumes does {name} hold?",),
        ),
        Fact(
            value=Number(low=310, high=4900, form="{n} maps", step=3),
            clauses=("the plan chest of {name} contains {v}", "{name} keeps {v} in its plan chest"),
            questions=("How many maps are in the plan chest of {name}?",),
        ),
        Fact(
            value=Day(years=(1534, 1719)),
            clauses=(
                "the oldest charter in {name} is dated {v}",
                "{name} keeps as its oldest charter one dated {v}",
            ),
            questions=("What is the date of the oldest charter in {name}?",),
        ),
    ),
    changing=(
        Fact(
            value=Clock(first=15, last=19),
            clauses=("the reading room of {name} closes at {v}", "{name} closes its reading room at {v}"),
            questions=("At what time does the reading room of {name} close?",),
        ),
        Fact(
            value=Number(low=38, high=58, form="{n}\u00a0% humidity"),
            clauses=("the strongroom of {name} is held at {v}", "{name} holds its strongroom at {v}"),
            questions=("At what humidity is the strongroom of {name} held?",),
        ),
        Fact(
            value=PERSON,
            clauses=("{v} is the head archivist of {name}", "the head archivist of {name} is {v}"),
            questions=("Who is the head archivist of {name}?",),
        ),
        Fact(
            value=Number(low=15, high=95, form="€0.{n} a page", step=5),
            clauses=("a scan from {name} costs {v}", "{name} charges {v} for a scan"),
            questions=("What does {name} charge for a scan?",),
        ),
    ),
    asides=(
        "Letters to the founder are addressed to {native}, in at least four scripts.",
        "A cat from the bakery next door sleeps on the returns trolley.",
        "The flood of {year} reached the second shelf, and the tide line has been left as it was.",
        "Pencils only, please – ink and umbrellas stay in the lobby.",
        "Prof. {person} is said to have read every parish book between here and {place}.",
        "The seal collection came in a hatbox from an attic in {place}.",
        "Family historians come on wet days and bring sandwiches.",
        "The donation of {year} includes the diaries of {native_person}, mostly about weather.",
        "A bell under the counter calls somebody from the stacks, sooner or later.",
        "The reading lamps, “die grünen Damen”, were rewired one by one.",
    ),
)
