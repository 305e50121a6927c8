import Crypto

/// The full check of a signature with libcrypto. It accepts any BER encoding, and records a finding for every check
/// that it makes.
///
/// Source: Apple, "Payment token format reference", "Verify the signature"; RFC 5652 sections 5 and 11.
struct FullSignatureCheck {
    let chainVerifier: ChainVerifier
    let cache: ChainCache

    /// Records the results of all checks except environment and signing time.
    ///
    /// - Returns: the details for the remaining checks; nil if the message does not have the required structure.
    func run(_ token: ApplePayToken, _ builder: inout VerificationBuilder) -> SignerDetails? {
        let message: CMSMessage
        let signer: CMSSigner
        let attributes: SignedAttributes
        do throws(StructureFailure) {
            message = try Self.parse(token.signature)
            signer = try Self.onlySigner(of: message)
            try Self.requireAlgorithms(of: signer, version: token.version)
            try Self.requireUnsignedFields(of: message)
            attributes = try SignedAttributes(signer)
        } catch {
            builder.fail(.structure, reason: error.reason, error.finding)
            return nil
        }
        builder.signingTime = attributes.signingTime
        let certificates = message.certificates
        let leaves = certificates.filter(signer.identifies)
        guard leaves.count == 1 else {
            builder.fail(
                .structure, reason: .signingCertificateCount(leaves.count),
                "the signer identifies \(leaves.count) of the \(certificates.count) certificates, expected one")
            return nil
        }
        let leaf = leaves[0]
        builder.pass(.structure, PassedFinding.structure)
        checkDigest(attributes, token, &builder)
        checkSignature(signer, leaf, token.version, &builder)
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
            throw StructureFailure(.notCMS, "the signature of \(signature.count) bytes is not a CMS message")
        }
        guard message.trailingCount == 0 else {
            throw StructureFailure(
                .trailingBytes, "found \(message.trailingCount) bytes after the CMS message, expected none")
        }
        guard message.isSignedData else {
            throw StructureFailure(.notSignedData, "the CMS message is not of type signed data")
        }
        guard message.isDetached else {
            throw StructureFailure(
                .attachedContent, "the CMS message contains content, expected a detached signature")
        }
        guard message.contentType == OID.data else {
            throw StructureFailure(
                .contentType, "found content type \(OID.dotted(message.contentType)), expected \(OID.dotted(OID.data))")
        }
        return message
    }

    private static func onlySigner(of message: CMSMessage) throws(StructureFailure) -> CMSSigner {
        let signers = message.signers
        guard signers.count == 1 else {
            throw StructureFailure(.signerCount(signers.count), "found \(signers.count) signers, expected exactly one")
        }
        return signers[0]
    }

    private static func requireUnsignedFields(of message: CMSMessage) throws(StructureFailure) {
        guard let fields = UnsignedFields(message.derRepresentation) else {
            throw StructureFailure(
                .unexpectedElements, "the signed data contains elements that Apple's signatures do not have")
        }
        try fields.validate()
    }

    private static func requireAlgorithms(
        of signer: CMSSigner, version: ApplePayToken.Version
    ) throws(StructureFailure) {
        let (digest, signature) = signer.algorithms
        guard digest.oid == OID.sha256, digest.hasNoParameters else {
            throw StructureFailure(
                .digestAlgorithm,
                "found digest algorithm \(OID.dotted(digest.oid)), "
                    + "expected \(OID.dotted(OID.sha256)) (SHA-256) without parameters")
        }
        guard version.signatureAlgorithms.contains(signature.oid), signature.hasNoParameters else {
            throw StructureFailure(
                .signatureAlgorithm,
                "found signature algorithm \(OID.dotted(signature.oid)), "
                    + "expected \(OID.dotted(version.signatureAlgorithms[0])) for version \(version.rawValue)")
        }
    }

    private func checkDigest(
        _ attributes: SignedAttributes, _ token: ApplePayToken, _ builder: inout VerificationBuilder
    ) {
        if SHA256.hash(data: token.signedContent).elementsEqual(attributes.messageDigest) {
            builder.pass(.messageDigest, PassedFinding.messageDigest)
        } else {
            builder.fail(
                .messageDigest, reason: .digestMismatch,
                "the signed digest is not the digest of this token's \(token.keyMaterialName), data, transactionId"
                    + (token.applicationDataHash == nil ? "" : " and applicationData"))
        }
    }

    private func checkSignature(
        _ signer: CMSSigner, _ leaf: X509Certificate, _ version: ApplePayToken.Version,
        _ builder: inout VerificationBuilder
    ) {
        guard leaf.verificationKey?.type == version.signingKeyType else {
            builder.fail(
                .signature, reason: .signingKeyType,
                "the signing certificate has no readable \(version.signingKeyType)")
            return
        }
        if signer.isSigned(by: leaf) {
            builder.pass(.signature, PassedFinding.signature)
        } else {
            builder.fail(
                .signature, reason: .signatureMismatch,
                "the key of the signing certificate did not make the signature over the signed attributes")
        }
    }

    /// Checks the marker extensions and the certificate chain. Besides the signing certificate, the token must contain
    /// exactly one certificate that is not self-issued: the intermediate. Root certificates in the token are ignored
    /// and never trusted.
    private func checkCertificates(
        _ leaf: X509Certificate, _ certificates: [X509Certificate], _ time: ASN1Time,
        _ builder: inout VerificationBuilder
    ) {
        let others = certificates.filter { $0 !== leaf && !$0.isSelfIssued }
        guard others.count == 1 else {
            let finding = "found \(others.count) intermediate certificates, expected exactly one"
            builder.fail(.markers, reason: .intermediateCount(others.count), finding)
            builder.fail(.certificateChain, reason: .intermediateCount(others.count), finding)
            return
        }
        let intermediate = others[0]
        let hasMarkers = checkMarkers(leaf, intermediate, &builder)
        guard leaf.allowsDigitalSignature else {
            builder.fail(
                .certificateChain, reason: .signingKeyUsage,
                "the key usage of the signing certificate does not include digitalSignature")
            return
        }
        switch chainVerifier.verify(leaf: leaf, intermediate: intermediate, at: time) {
        case .invalid(let failure, let description):
            builder.fail(
                .certificateChain, reason: .chain(failure),
                "\(description); expected a chain to a trusted root that is valid at the signing time \(time)")
        case .valid(let root):
            builder.pass(.certificateChain, PassedFinding.certificateChain)
            if hasMarkers { cache.insert(leaf: leaf, intermediate: intermediate, root: root) }
        }
    }

    private func checkMarkers(
        _ leaf: X509Certificate, _ intermediate: X509Certificate, _ builder: inout VerificationBuilder
    ) -> Bool {
        let lacksLeafMarker = !leaf.hasExtension(OID.tokenSigningLeaf)
        let lacksIntermediateMarker = !intermediate.hasExtension(OID.applicationIntegrationCA)
        guard lacksLeafMarker || lacksIntermediateMarker else {
            builder.pass(.markers, PassedFinding.markers)
            return true
        }
        let missing =
            (lacksLeafMarker ? ["the signing certificate has no extension \(OID.dotted(OID.tokenSigningLeaf))"] : [])
            + (lacksIntermediateMarker
                ? ["the intermediate has no extension \(OID.dotted(OID.applicationIntegrationCA))"] : [])
        builder.fail(
            .markers,
            reason: .missingMarkers(signingCertificate: lacksLeafMarker, intermediate: lacksIntermediateMarker),
            missing.joined(separator: "; ") + "; expected Apple's marker extensions")
        return false
    }
}

extension ApplePayToken {
    fileprivate var keyMaterialName: String {
        switch keyMaterial {
        case .ephemeralPublicKey: "ephemeralPublicKey"
        case .wrappedKey: "wrappedKey"
        }
    }
}
