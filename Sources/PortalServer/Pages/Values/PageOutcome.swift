package import MerchantCore
package import MerchantOperations

/// The outcome of a form that a person at a merchant has sent. The page after it shows the outcome.
package enum PageOutcome: Hashable, Sendable {
    case success(MerchantNotice)
    case problem(MerchantProblem, requestId: String?)
    case uploadRefused(UploadProblem)

    var isProblem: Bool {
        if case .success(let notice) = self { notice.isWarning } else { true }
    }

    var status: Int {
        switch self {
        case .success: 200
        case .problem(let problem, _): problem.status
        case .uploadRefused(let problem): problem.status
        }
    }
}

/// A success. After a form, the server redirects to a page with the raw value in the query `done`.
package enum MerchantNotice: String, Sendable, CaseIterable {
    case keyPairGenerated, certificateStored, domainsRegistered, domainUnregistered
    /// The uploaded certificate was stored before, and no other certificate must be uploaded now.
    case certificateStoredAlready
    /// The uploaded certificate was stored before, and the certificate of another key pair must be uploaded now.
    case presentCertificate
    /// The replacement of the key began with a new key pair, or with one that waits for its certificate.
    case rollStarted
    /// The replacement of the key began with a key pair that has its certificate already.
    case rollStartedWithReserve
    /// The replacement of the key had begun before.
    case rollOpen

    /// Whether the form had another effect than the person expected.
    var isWarning: Bool { self == .presentCertificate }

    /// The outcome of an upload.
    package init(upload view: KeyView) {
        guard view.isStoredAlready else {
            self = .certificateStored
            return
        }
        self = view.awaitedKey == nil ? .certificateStoredAlready : .presentCertificate
    }

    /// The outcome of a request to generate a key pair or to replace it.
    ///
    /// - Parameter generated: the notice if the roll is new and its key pair waits for a certificate.
    package init(_ view: RollView, isNew: Bool, generated: MerchantNotice) {
        guard isNew else {
            self = .rollOpen
            return
        }
        self = view.progress.state == .started ? generated : .rollStartedWithReserve
    }
}

/// Why the request of a form failed. The problems of uploads are in ``UploadProblem``.
package enum MerchantProblem: String, Sendable, CaseIterable {
    case keyLimit, keyConflict, rollConflict
    case domainMissing, domainInvalid, nameMissing, domainNotRegistered, registrationBusy, tooManyDomains
    case domainFileMissing, appleRefused, appleBusy, appleUnavailable, appleNoResponse
    case sentTwice, busy, failed

    package init(_ code: MerchantError.Code) {
        switch code {
        case .tooManyPendingKeys: self = .keyLimit
        case .keyStateConflict, .keyRevoked, .keyDestroyed, .keyNotFound, .keyExists, .currentKeyExists:
            self = .keyConflict
        case .rollStateConflict: self = .rollConflict
        case .registrationNotFound, .domainNotRegistered: self = .domainNotRegistered
        case .registrationConflict: self = .registrationBusy
        case .tooManyDomains: self = .tooManyDomains
        case .domainFileNotSet: self = .domainFileMissing
        case .gatewayRefused: self = .appleRefused
        case .gatewayRateLimited: self = .appleBusy
        case .gatewayUnauthorized, .gatewayUntrusted, .gatewayFailed, .gatewayUnavailable, .gatewayNotConfigured:
            self = .appleUnavailable
        case .gatewayResponseNotReceived: self = .appleNoResponse
        case .idempotencyKeyReused: self = .sentTwice
        case .overloaded, .tooManyRequests, .storeUnavailable: self = .busy
        default: self = .failed
        }
    }

    package var status: Int {
        switch self {
        case .domainMissing, .domainInvalid, .nameMissing, .appleRefused, .sentTwice: 422
        case .keyLimit, .keyConflict, .rollConflict, .registrationBusy, .tooManyDomains: 409
        case .domainNotRegistered, .domainFileMissing: 404
        case .appleBusy: 429
        case .appleUnavailable, .busy: 503
        case .appleNoResponse: 504
        case .failed: 500
        }
    }
}

extension PageOutcome {
    /// The message about the outcome.
    ///
    /// - Parameters:
    ///   - merchant: the merchant identifier, for messages that name it.
    ///   - key: the publicKeyHash of the key pair whose certificate must be uploaded, for messages that name it.
    func alert(_ text: PageText, merchant: String, key: String = "") -> AlertContent {
        switch self {
        case .success(let notice):
            let title = text.named(.notice, "\(notice.rawValue).title")
            let body = text.named(.notice, "\(notice.rawValue).body", ["key": key])
            return notice.isWarning ? .problem(title, [body], requestId: nil) : .success(title, [body])
        case .problem(let problem, let requestId):
            return .problem(
                text.named(.problem, "\(problem.rawValue).title"), [text.named(.problem, "\(problem.rawValue).body")],
                requestId: requestId)
        case .uploadRefused(let problem):
            let name = problem.kind.rawValue
            let values = ["merchant": merchant, "limit": text.kilobytes(CertificateUploadDiagnosis.longest)]
            return .problem(
                text.named(.uploadProblem, "\(name).title"),
                [
                    text.named(.uploadProblem, "\(name).cause", values),
                    text.named(.uploadProblem, "\(name).action", values),
                ], requestId: problem.requestId)
        }
    }
}
