package import MerchantCore
package import Vocabulary

/// Why an uploaded certificate was refused.
package struct UploadProblem: Hashable, Sendable {
    package enum Kind: String, Sendable, CaseIterable {
        case noFile, empty, tooLarge
        // The file is not a single certificate.
        case webPage, signingRequest, privateKey, pkcs7, pkcs12, provisioningProfile, otherFile, chain
        // A certificate of another kind, or for another merchant or key pair.
        case identityCertificate, otherMerchant, wrongKind, unknownKey, revokedKey
        case expired, notYetValid, issuerUntrusted, malformed
        // The server's fault.
        case busy, failed
    }

    package let kind: Kind
    package let requestId: String?

    package init(_ kind: Kind, requestId: String? = nil) {
        self.kind = kind
        self.requestId = requestId
    }

    /// The problem of a file that certainly is not a single certificate. Such a file is not passed to the operation
    /// that stores certificates.
    ///
    /// - Returns: nil if the file may be a certificate.
    package init?(file diagnosis: CertificateUploadDiagnosis, requestId: String?) {
        switch diagnosis {
        case .empty: self.init(Kind.empty, requestId: requestId)
        case .tooLarge: self.init(Kind.tooLarge, requestId: requestId)
        case .webPage: self.init(Kind.webPage, requestId: requestId)
        case .signingRequest: self.init(Kind.signingRequest, requestId: requestId)
        case .privateKey: self.init(Kind.privateKey, requestId: requestId)
        case .pkcs7: self.init(Kind.pkcs7, requestId: requestId)
        case .pkcs12: self.init(Kind.pkcs12, requestId: requestId)
        case .provisioningProfile: self.init(Kind.provisioningProfile, requestId: requestId)
        case .chain: self.init(Kind.chain, requestId: requestId)
        case .otherFile: self.init(Kind.otherFile, requestId: requestId)
        case .certificate: return nil
        }
    }

    /// The problem of a file that the operation has refused.
    ///
    /// - Parameters:
    ///   - code: the error of the operation.
    ///   - diagnosis: what the file is.
    ///   - merchant: the merchant for which the file was uploaded.
    package init(
        refusal code: MerchantError.Code, file diagnosis: CertificateUploadDiagnosis, merchant: MerchantIdentifier,
        requestId: String?
    ) {
        if let problem = UploadProblem(file: diagnosis, requestId: requestId) {
            self = problem
            return
        }
        var marks = CertificateMarks(merchantIdentifierHash: nil, isIdentity: false)
        if case .certificate(let found) = diagnosis { marks = found }
        self.init(Self.kind(of: code, marks, merchant), requestId: requestId)
    }

    private static func kind(
        of code: MerchantError.Code, _ marks: CertificateMarks, _ merchant: MerchantIdentifier
    ) -> Kind {
        let isForOther = marks.merchantIdentifierHash.map { $0 != MerchantIdentifierHash(of: merchant) } ?? false
        switch code {
        case .certificateKeyUnknown, .keyBelongsToAnotherMerchant:
            if marks.isIdentity { return .identityCertificate }
            return isForOther ? .otherMerchant : .unknownKey
        case .certificateForAnotherMerchant:
            // Without Apple's extension, the certificate is for no merchant at all.
            return marks.merchantIdentifierHash == nil ? .issuerUntrusted : .otherMerchant
        case .certificateWrongKind, .keyUnsupported: return marks.isIdentity ? .identityCertificate : .wrongKind
        case .certificateExpired: return .expired
        case .certificateNotYetValid: return .notYetValid
        case .certificateIssuerUntrusted: return .issuerUntrusted
        case .certificateMalformed, .malformed: return .malformed
        case .certificateChain: return .chain
        case .privateKeyUploaded: return .privateKey
        case .tooLarge: return .tooLarge
        case .keyRevoked, .keyDestroyed, .keyStateConflict: return .revokedKey
        case .overloaded, .tooManyRequests, .storeUnavailable: return .busy
        default: return .failed
        }
    }

    /// The HTTP status of the page that shows the problem.
    package var status: Int {
        switch kind {
        case .tooLarge: 413
        case .busy: 503
        case .failed: 500
        default: 422
        }
    }
}
