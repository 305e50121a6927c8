"""What the checks in the browser found."""
import dataclasses


@dataclasses.dataclass
class Report:
    pages: list = dataclasses.field(default_factory=list)
    # The onboarding step that was next, in the order in which the overview showed it.
    steps: list = dataclasses.field(default_factory=list)
    # The problem that the overview showed for each file that is not the right certificate.
    uploads: dict = dataclasses.field(default_factory=dict)
    # The name of each CSR on the page, and the name of the file.
    requestNames: list = dataclasses.field(default_factory=list)
    # The notice or problem of each page: its name in texts.json, or the title if it has no name there.
    notices: dict = dataclasses.field(default_factory=dict)
    # Whether the page showed the first payment without being loaded again.
    liveUpdate: bool = False
    # Whether the page showed that the session had ended, without being loaded again.
    liveEnd: bool = False
    # What the overview asks for after the roll, and after the reserve key has its certificate.
    reserve: list = dataclasses.field(default_factory=list)
    # Whether the page of an operator's ended session names the command for another login.
    consoleCommand: bool = False
    domains: list = dataclasses.field(default_factory=list)
    searches: dict = dataclasses.field(default_factory=dict)
    console: list = dataclasses.field(default_factory=list)
    accessibility: list = dataclasses.field(default_factory=list)
    # Labels of charts that overlap each other, a bar or a line.
    overlaps: list = dataclasses.field(default_factory=list)
    # Headings that follow a number, and whose lines begin at different horizontal positions.
    indents: list = dataclasses.field(default_factory=list)
    # Pages wider than the window.
    overflow: list = dataclasses.field(default_factory=list)
    # Requests to other servers than the portal.
    foreignRequests: list = dataclasses.field(default_factory=list)
    # Elements that had the keyboard's focus without a visible outline.
    invisibleFocus: list = dataclasses.field(default_factory=list)
    # What the checks find on a page that violates them on purpose.
    control: dict = dataclasses.field(default_factory=dict)
