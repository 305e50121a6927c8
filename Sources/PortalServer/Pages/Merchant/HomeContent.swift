import MerchantCore
import MerchantOperations
import Vocabulary
import WireAPI

/// The values of the template `home`.
struct HomeContent {
    /// The overview lists at most this many key pairs. The page of the keys lists all.
    private static let maximumKeys = 6

    let heading: String
    let merchant: String
    /// The outcome of a form; nil if there is none, or for a refused upload, whose problem is shown beside its form.
    let alert: AlertContent?
    let liveURL: String
    let liveTag: String
    let eyebrow: String
    let nowTitle: String
    let nowParagraphs: [String]
    let generate: HomeTask.Generation?
    let certificate: HomeTask.Certificate?
    /// The form for the certificate, as part of the third instruction.
    let upload: HomeTask.Upload?
    /// The form for the certificate if the instructions are not shown.
    let otherUpload: HomeTask.Upload?
    let activation: HomeTask.Activation?
    /// Whether the page explains how it will show the first payment.
    let awaitsPayment: Bool
    let offersRoll: Bool
    let asksForRoll: Bool
    let summary: String
    let doneShare: String
    let steps: [StepContent]
    let hasKeys: Bool
    let timeline: KeyTimelineContent?
    let keyRows: [KeyContent]
    let keysPath = PortalPaths.keys
    let rollPath = PortalPaths.roll
    let domainsPath = PortalPaths.domains
    let domainsLink: String

    init(
        _ merchant: Merchant, _ steps: [ProgressStep], _ task: HomeTask, keys: [PageKey], hasDomains: Bool,
        _ outcome: PageOutcome?, liveTag: String?, _ text: PageText
    ) {
        heading = merchant.name.map { text.filled(.homeHeadingNamed, ["name": $0]) } ?? text[.homeHeading]
        self.merchant = merchant.identifier.rawValue
        let awaited = task.certificate?.keyHash ?? keys.oldestPending?.keyPair.publicKeyHash.base64
        let isForUpload = task.upload?.problem != nil
        alert =
            isForUpload ? nil : outcome?.alert(text, merchant: merchant.identifier.rawValue, key: awaited ?? "")
        liveURL = Paths.onboarding(of: merchant.identifier)
        self.liveTag = liveTag ?? ""
        eyebrow = task.isForMerchant ? text[.homeNow] : text[.homeNothing]
        nowTitle = task.title
        nowParagraphs = task.paragraphs
        generate = task.generation
        certificate = task.certificate
        upload = task.certificate == nil ? nil : task.upload
        otherUpload = task.certificate == nil ? task.upload : nil
        activation = task.activation
        awaitsPayment = task.awaitsPayment
        domainsLink = text[hasDomains ? .homeDomainsLinkRegistered : .homeDomainsLink]
        offersRoll = task.offersRoll
        asksForRoll = task.asksForRoll
        summary = Self.summary(steps, text)
        let done = steps.count { $0.state == .done }
        doneShare = ChartValue.percent(Double(done) / Double(max(steps.count, 1)))
        self.steps = steps.enumerated().map { StepContent($0.element, number: $0.offset + 1, text) }
        let used = keys.filter { $0.keyPair.state != .revoked && $0.keyPair.state != .destroyed }
        hasKeys = !used.isEmpty
        timeline = KeyTimelineContent(used, text)
        keyRows = used.prefix(Self.maximumKeys).map { KeyContent($0, text) }
    }

    private static func summary(_ steps: [ProgressStep], _ text: PageText) -> String {
        guard let index = steps.firstIndex(where: { $0.state == .next }) else {
            return text.filled(.stepComplete, ["count": text.number(steps.count)])
        }
        return text.filled(
            .stepSummary,
            [
                "number": text.number(index + 1), "count": text.number(steps.count),
                "name": text.named(.stepName, steps[index].name.rawValue),
            ])
    }
}
