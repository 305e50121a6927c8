import MerchantCore
import MerchantOperations
import Vocabulary

/// What the overview says about the next step.
struct HomeTask {
    struct Generation {
        let path = PortalPaths.keys
    }

    /// The instructions for a certificate: download the CSR, create the certificate at Apple, upload the certificate.
    struct Certificate {
        let csrPath: String
        let csrFile: String
        let keyHash: String
        /// Says that more key pairs wait for a certificate; nil if there are none.
        let others: String?
        let chinaMainland: String
        /// When to activate the certificate at Apple.
        let warning: String
    }

    struct Upload {
        let path = PortalPaths.certificates
        let longest = CertificateUploadDiagnosis.longest
        let hint: String
        /// Why the last upload was refused; nil if it was not.
        let problem: AlertContent?
        /// The element that describes the problem.
        var problemId: String?
    }

    struct Activation {
        let ends: TimeContent?
    }

    /// The merchant should replace the key when the current certificate expires within this number of days.
    private static let renewalDays = 30

    private(set) var title: String
    private(set) var paragraphs: [String]
    /// Whether the merchant must act.
    private(set) var isForMerchant: Bool
    private(set) var generation: Generation?
    private(set) var certificate: Certificate?
    private(set) var upload: Upload?
    private(set) var activation: Activation?
    private(set) var awaitsPayment = false
    /// Whether the page offers to replace the key.
    private(set) var offersRoll = false
    /// Whether the page asks the merchant to replace the key now.
    private(set) var asksForRoll = false

    init(
        steps: [ProgressStep], focus: PublicKeyHash?, keys: [PageKey], of merchant: Merchant, _ outcome: PageOutcome?,
        _ text: PageText
    ) {
        let next = steps.first { $0.state == .next }
        let focusKey = keys.first { $0.keyPair.publicKeyHash == focus }
        isForMerchant = next?.waitingFor == .merchant
        title = ""
        paragraphs = []
        switch next?.name {
        case nil: showDone(keys, text)
        case .keyPair?: showGeneration(keys, text)
        case .appleCertificate?, .upload?: showCertificate(focusKey, keys, text)
        case .activation?: showActivation(focusKey, isAdmin: next?.waitingFor == .admin, text)
        case .firstPayment?:
            title = text[.nowFirstPaymentTitle]
            paragraphs = [text[.nowFirstPaymentBody], text[.nowFirstPaymentHint]]
        case .oldKeyQuiet?:
            showOldKey(focusKey, isAdmin: next?.waitingFor == .admin, until: next?.until, text)
        case .done?:
            title = text[.nowFinishingTitle]
            paragraphs = [text[next?.waitingFor == .admin ? .nowFinishingBodyAdmin : .nowFinishingBody]]
        }
        awaitsPayment = next?.name == .activation || next?.name == .firstPayment
        var problem: AlertContent?
        if case .uploadRefused? = outcome {
            problem = outcome?.alert(text, merchant: merchant.identifier.rawValue).nested(level: 4)
        }
        // After a refused upload the form stays, so that another file can be chosen.
        if certificate != nil || problem != nil {
            upload = Upload(
                hint: text.filled(.uploadHint, ["limit": text.kilobytes(CertificateUploadDiagnosis.longest)]),
                problem: problem, problemId: problem?.id)
        }
    }

    private mutating func showGeneration(_ keys: [PageKey], _ text: PageText) {
        guard isForMerchant else {
            title = text[.nowKeyPairTitle]
            paragraphs = [text[.nowKeyPairOther]]
            return
        }
        if let current = keys.current {
            title = text[.nowRenewalTitle]
            paragraphs = [Self.end(of: current, text), text[.nowRenewalBody]].compactMap { $0 }
            offersRoll = true
            asksForRoll = true
        } else {
            title = text[.nowKeyPairTitle]
            paragraphs = [text[.nowKeyPairBody]]
            generation = Generation()
        }
    }

    private mutating func showCertificate(_ focusKey: PageKey?, _ keys: [PageKey], _ text: PageText) {
        title = text[.nowCertificateTitle]
        paragraphs = [text[.nowCertificateBody]]
        if let end = keys.current?.certificate?.notAfter {
            let days = text.daysLeft(until: end)
            paragraphs.append(
                text.filled(
                    days < 0 ? .nowCertificateOverdue : .nowCertificateDeadline,
                    ["date": text.day(end).text, "days": text.remaining(until: end)]))
        }
        guard let key = focusKey ?? keys.oldestPending else { return }
        certificate = Self.certificate(for: key, among: keys, warning: text[.appleCreateWarning], text)
    }

    private static func certificate(
        for key: PageKey, among keys: [PageKey], warning: String, _ text: PageText
    ) -> Certificate {
        let hash = key.keyPair.publicKeyHash
        let others = keys.count { $0.keyPair.state == .pending && $0.keyPair.publicKeyHash != hash }
        return Certificate(
            csrPath: PortalPaths.signingRequest(of: hash), csrFile: key.signingRequestFile, keyHash: hash.base64,
            others: others > 0 ? text.counted(.homeOtherPending, others) : nil,
            chinaMainland: text[key.keyPair.algorithm == .rsaV1 ? .appleCreate4Yes : .appleCreate4No],
            warning: warning)
    }

    private mutating func showActivation(_ focusKey: PageKey?, isAdmin: Bool, _ text: PageText) {
        title = text[.nowActivationTitle]
        paragraphs = [text[isAdmin ? .nowActivationBodyAdmin : .nowActivationBody]]
        activation = Activation(ends: focusKey?.certificate.map { text.day($0.notAfter) })
    }

    private mutating func showOldKey(
        _ focusKey: PageKey?, isAdmin: Bool, until: Timestamp?, _ text: PageText
    ) {
        title = text[.nowOldKeyQuietTitle]
        guard isAdmin else {
            paragraphs = [text[.nowOldKeyQuietBody]]
            if let until {
                paragraphs.append(text.filled(.nowOldKeyQuietUntil, ["date": text.day(until).text]))
            }
            return
        }
        let isPromoted = focusKey?.keyPair.state == .current
        paragraphs = [text[isPromoted ? .nowOldKeyQuietBodyAdmin : .nowOldKeyQuietBodyConfirm]]
    }

    private mutating func showDone(_ keys: [PageKey], _ text: PageText) {
        let end = keys.current?.certificate?.notAfter
        let isDue = end.map { text.daysLeft(until: $0) < Self.renewalDays } ?? false
        if !isDue, let reserve = keys.oldestPending { return showReserve(reserve, keys, text) }
        title = text[.nowDoneTitle]
        paragraphs = [text[.nowDoneBody]]
        offersRoll = true
        asksForRoll = isDue
        isForMerchant = isDue
        guard let current = keys.current, end != nil else { return }
        paragraphs += [Self.end(of: current, text), text[isDue ? .nowDoneRenewNow : .nowDoneRenew]].compactMap { $0 }
        let hasReserve = keys.contains { key in
            key.keyPair.state == .standby && key.certificate.map { $0.notAfter > text.now } ?? false
        }
        if !isDue, hasReserve { paragraphs.append(text[.nowReserveReady]) }
    }

    /// Shows the key pair for the next roll, which waits for its certificate.
    private mutating func showReserve(_ reserve: PageKey, _ keys: [PageKey], _ text: PageText) {
        isForMerchant = true
        offersRoll = true
        title = text[.nowReserveTitle]
        paragraphs = [text[.nowDoneBody], keys.current.flatMap { Self.end(of: $0, text) }, text[.nowReserveBody]]
            .compactMap { $0 }
        certificate = Self.certificate(for: reserve, among: keys, warning: text[.nowReserveWarning], text)
    }

    /// A sentence that says when the key pair's certificate expires; nil if the key pair has none.
    private static func end(of key: PageKey, _ text: PageText) -> String? {
        guard let end = key.certificate?.notAfter else { return nil }
        return text.filled(.nowDoneEnds, ["date": text.day(end).text, "days": text.remaining(until: end)])
    }
}
