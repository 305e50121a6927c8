import Crypto
import Vocabulary

/// The full check of a signature with libcrypto. It accepts any BER encoding and, unlike ``CachedChainCheck``, records
/// why a message fails.
///
/// Source: Apple, "Payment token format reference", "Verify the signature"; RFC 5652 sections 5 and 11.
struct FullSignatureCheck {
    let chainVerifier: ChainVerifier
    let cache: ChainCache

    /// Records the results of all checks except two: the caller checks the environment and the signing time.
    ///
    /// - Returns: the signer's details for the checks of the caller; nil if the message does not have the required
    ///   structure.
    func run(_ message: some AppleMessage, _ builder: inout VerificationBuilder) -> SignerDetails? {
        let cms: CMSMessage
        let signer: CMSSigner
        let attributes: SignedAttributes
        do throws(StructureFailure) {
            cms = try Self.parse(message.signature)
            signer = try Self.onlySigner(of: cms)
            try Self.checkAlgorithms(of: signer, version: message.version)
            try Self.checkFieldsOutsideSignature(of: cms)
            attributes = try SignedAttributes(signer)
        } catch {
            builder.fail(.structure, reason: error.reason, error.finding)
            return nil
        }
        builder.signingTime = attributes.signingTime
        let certificates = cms.certificates
        let signingCertificates = certificates.filter(signer.identifies)
        guard signingCertificates.count == 1 else {
            builder.fail(
                .structure, reason: .wrongSigningCertificateCount(signingCertificates.count),
                "the signer identifier matches \(signingCertificates.count) of \(certificates.count.counted("certificate")), "
                    + "expected exactly one")
            return nil
        }
        let leaf = signingCertificates[0]
        builder.pass(.structure, PassedFinding.structure)
        checkDigest(attributes, message, &builder)
        checkSignature(signer, leaf, message.version, &builder)
        checkCertificates(leaf, certificates, attributes.signingTime, &builder)
        return SignerDetails(signingTime: attributes.signingTime, commonNames: leaf.subjectCommonNames)
    }

    /// The error for a message that does not have the required structure.
    struct StructureFailure: Error {
        let reason: FailureReason
        let finding: String

        init(_ reason: FailureReason, _ finding: String) {
            self.reason = reason
            self.finding = finding
        }
    }

    private static func parse(_ signature: [UInt8]) throws(StructureFailure) -> CMSMessage {
        guard let message = CMSMessage(signature) else {
            throw StructureFailure(.notCMS, "the signature of \(signature.count.counted("byte")) is not a CMS message")
        }
        guard message.trailingCount == 0 else {
            throw StructureFailure(
                .trailingBytes,
                "the signature has \(message.trailingCount.counted("byte")) after the CMS message, expected none")
        }
        guard message.isSignedData else {
            throw StructureFailure(.notSignedData, "the CMS message is not of type signed data")
        }
        guard message.isDetached else {
            throw StructureFailure(
                .attachedContent, "the CMS message contains the signed content, but must be a detached signature")
        }
        guard message.contentType == OID.data else {
            throw StructureFailure(
                .wrongContentType,
                "the CMS message has content type \(OID.dotted(message.contentType)), expected \(OID.dotted(OID.data))")
        }
        return message
    }

    private static func onlySigner(of message: CMSMessage) throws(StructureFailure) -> CMSSigner {
        let signers = message.signers
        guard signers.count == 1 else {
            throw StructureFailure(
                .wrongSignerCount(signers.count), "the CMS message has \(signers.count) signers, expected exactly one")
        }
        return signers[0]
    }

    /// Checks the fields of the message that the signature does not protect.
    private static func checkFieldsOutsideSignature(of message: CMSMessage) throws(StructureFailure) {
        guard let fields = FieldsOutsideSignature(message.derRepresentation) else {
            throw StructureFailure(
                .unexpectedElements, "the signed data contains elements that Apple's signatures do not have")
        }
        try fields.validate()
    }

    private static func checkAlgorithms(
        of signer: CMSSigner, version: ApplePayToken.Version
    ) throws(StructureFailure) {
        let (digest, signature) = signer.algorithms
        guard digest.oid == OID.sha256, digest.hasNoParameters else {
            throw StructureFailure(
                .wrongDigestAlgorithm,
                "the signer uses the digest algorithm \(OID.dotted(digest.oid)), "
                    + "expected \(OID.dotted(OID.sha256)) (SHA-256) without parameters")
        }
        guard version.signatureAlgorithms.contains(signature.oid), signature.hasNoParameters else {
            throw StructureFailure(
                .wrongSignatureAlgorithm,
                "the signer uses the signature algorithm \(OID.dotted(signature.oid)), "
                    + "expected \(OID.dotted(version.signatureAlgorithms[0])) without parameters for version "
                    + "\(version.rawValue)")
        }
    }

    private func checkDigest(
        _ attributes: SignedAttributes, _ message: some AppleMessage, _ builder: inout VerificationBuilder
    ) {
        if SHA256.hash(data: message.signedContent).elementsEqual(attributes.messageDigest) {
            builder.pass(.messageDigest, PassedFinding.messageDigest)
        } else {
            let names = [message.keyMaterial.name, "data"] + message.otherSignedParts.map(\.name)
            builder.fail(
                .messageDigest, reason: .digestMismatch,
                "the signed digest is not the digest of the received \(names.dropLast().joined(separator: ", ")) and "
                    + (names.last ?? ""))
        }
    }

    private func checkSignature(
        _ signer: CMSSigner, _ leaf: X509Certificate, _ version: ApplePayToken.Version,
        _ builder: inout VerificationBuilder
    ) {
        guard leaf.verificationKey?.type == version.signingKeyType else {
            builder.fail(
                .signature, reason: .wrongSigningKeyType,
                "the public key of the signing certificate cannot be read or is not an \(version.signingKeyType)")
            return
        }
        if signer.isSigned(by: leaf) {
            builder.pass(.signature, PassedFinding.signature)
        } else {
            builder.fail(
                .signature, reason: .signatureMismatch,
                "the signature over the signed attributes does not verify with the signing certificate's public key")
        }
    }

    /// Checks the marker extensions and the certificate chain. Besides the signing certificate, the message must
    /// contain exactly one certificate that is not self-issued: the intermediate. Root certificates in the message are
    /// ignored and never trusted.
    private func checkCertificates(
        _ leaf: X509Certificate, _ certificates: [X509Certificate], _ time: ASN1Time,
        _ builder: inout VerificationBuilder
    ) {
        let intermediates = certificates.filter { $0 !== leaf && !$0.isSelfIssued }
        guard intermediates.count == 1 else {
            let finding =
                "the signature contains \(intermediates.count) intermediate certificates, expected exactly one"
            builder.fail(.markerExtensions, reason: .wrongIntermediateCount(intermediates.count), finding)
            builder.fail(.certificateChain, reason: .wrongIntermediateCount(intermediates.count), finding)
            return
        }
        let intermediate = intermediates[0]
        let haveMarkerExtensions = checkMarkerExtensions(leaf, intermediate, &builder)
        guard leaf.allowsDigitalSignature else {
            builder.fail(
                .certificateChain, reason: .wrongSigningKeyUsage,
                "the key usage of the signing certificate does not include digitalSignature")
            return
        }
        switch chainVerifier.verify(leaf: leaf, intermediate: intermediate, at: time) {
        case .invalid(let failure, let description):
            builder.fail(
                .certificateChain, reason: .invalidChain(failure),
                "\(description); at the signing time \(time), the certificates must form a valid chain "
                    + "to a trusted root")
        case .valid(let root):
            builder.pass(.certificateChain, PassedFinding.certificateChain)
            // The fast check does not check marker extensions. So only chains that have them are cached.
            if haveMarkerExtensions { cache.insert(leaf: leaf, intermediate: intermediate, root: root) }
        }
    }

    /// - Returns: whether both certificates have Apple's marker extension.
    private func checkMarkerExtensions(
        _ leaf: X509Certificate, _ intermediate: X509Certificate, _ builder: inout VerificationBuilder
    ) -> Bool {
        let lacksLeafMarker = !leaf.hasExtension(OID.tokenSigningLeaf)
        let lacksIntermediateMarker = !intermediate.hasExtension(OID.applicationIntegrationCA)
        guard lacksLeafMarker || lacksIntermediateMarker else {
            builder.pass(.markerExtensions, PassedFinding.markerExtensions)
            return true
        }
        let missing =
            (lacksLeafMarker ? ["the signing certificate has no extension \(OID.dotted(OID.tokenSigningLeaf))"] : [])
            + (lacksIntermediateMarker
                ? ["the intermediate has no extension \(OID.dotted(OID.applicationIntegrationCA))"] : [])
        builder.fail(
            .markerExtensions,
            reason: .missingMarkerExtensions(
                signingCertificate: lacksLeafMarker, intermediate: lacksIntermediateMarker),
            missing.joined(separator: "; ") + "; Apple marks certificates for payment tokens with these extensions")
        return false
    }
}

extension ApplePayToken.KeyMaterial {
    /// The name of the field.
    fileprivate var name: String {
        switch self {
        case .ephemeralPublicKey: "ephemeralPublicKey"
        case .wrappedKey: "wrappedKey"
        }
    }
}
