import Crypto

/// The whole examination of a signature by libcrypto: any BER, every finding in words.
///
/// Source: Apple, "Payment token format reference", "Verify the signature"; RFC 5652 sections 5 and 11.
struct SignatureExamination {
    let judge: ChainVerifier
    let memory: ChainMemory

    /// Records every check of the signature but environment and time.
    ///
    /// - Returns: what those two are judged by; nil where the message could not be read that far.
    func examine(_ token: ApplePayToken, _ list: inout Checklist) -> SignedFacts? {
        let message: CMSMessage
        let signer: CMSSigner
        let attributes: SignedAttributes
        do throws(Fault) {
            message = try read(token.signature)
            signer = try onlySigner(of: message)
            try requireAlgorithms(of: signer, version: token.version)
            try requireFrame(of: message)
            attributes = try SignedAttributes(signer)
        } catch {
            list.fail(.structure, error.finding)
            return nil
        }
        list.signingTime = attributes.signingTime
        let certificates = message.certificates
        let leaves = certificates.filter(signer.isNamed(by:))
        guard leaves.count == 1 else {
            list.fail(
                .structure, "found \(leaves.count) certificates of the signer among \(certificates.count), expected one"
            )
            return nil
        }
        let leaf = leaves[0]
        list.pass(.structure, Finding.structure)
        checkDigest(attributes, token, &list)
        checkSignature(signer, leaf, token.version, &list)
        checkCertificates(leaf, certificates, attributes.signingTime, &list)
        return SignedFacts(signingTime: attributes.signingTime, leafCommonNames: leaf.subjectCommonNames)
    }

    /// Why a message does not have the form.
    struct Fault: Error {
        let finding: String
    }

    private func read(_ signature: [UInt8]) throws(Fault) -> CMSMessage {
        guard let message = CMSMessage(signature) else {
            throw Fault(finding: "found \(signature.count) bytes that are not a CMS message")
        }
        guard message.trailingCount == 0 else {
            throw Fault(finding: "found \(message.trailingCount) bytes after the CMS message, expected none")
        }
        guard message.isSignedData else {
            throw Fault(finding: "found a CMS message of another type, expected signed data")
        }
        guard message.isDetached else {
            throw Fault(finding: "found content inside the CMS message, expected a detached signature")
        }
        guard message.contentType == OID.data else {
            throw Fault(finding: "found content type \(OID.dotted(message.contentType)), expected data")
        }
        return message
    }

    private func onlySigner(of message: CMSMessage) throws(Fault) -> CMSSigner {
        let signers = message.signers
        guard signers.count == 1 else { throw Fault(finding: "found \(signers.count) signers, expected exactly one") }
        return signers[0]
    }

    private func requireFrame(of message: CMSMessage) throws(Fault) {
        guard let frame = MessageFrame(message.derRepresentation) else {
            throw Fault(finding: "found signed data of more parts than a token's, or of other ones")
        }
        if let fault = frame.fault { throw Fault(finding: fault) }
    }

    private func requireAlgorithms(of signer: CMSSigner, version: ApplePayToken.Version) throws(Fault) {
        let (digest, signature) = signer.algorithms
        guard digest.oid == OID.sha256, digest.hasNoParameters else {
            throw Fault(
                finding: "found digest algorithm \(OID.dotted(digest.oid)), expected SHA-256 without parameters")
        }
        guard version.signatureAlgorithms.contains(signature.oid), signature.hasNoParameters else {
            throw Fault(
                finding: "found signature algorithm \(OID.dotted(signature.oid)), "
                    + "expected \(OID.dotted(version.signatureAlgorithms[0])) in a token of \(version.rawValue)")
        }
    }

    private func checkDigest(_ attributes: SignedAttributes, _ token: ApplePayToken, _ list: inout Checklist) {
        if SHA256.hash(data: token.signedContent).elementsEqual(attributes.messageDigest) {
            list.pass(.messageDigest, Finding.messageDigest)
        } else {
            list.fail(
                .messageDigest,
                "found another digest signed, expected that of this token's \(token.keyMaterialName), data, transactionId"
                    + (token.applicationDataHash == nil ? "" : " and applicationData"))
        }
    }

    private func checkSignature(
        _ signer: CMSSigner, _ leaf: X509Certificate, _ version: ApplePayToken.Version, _ list: inout Checklist
    ) {
        guard leaf.verificationKey?.kind == version.signingKeyKind else {
            list.fail(.signature, "found a signing certificate without \(version.signingKeyKind) that can be read")
            return
        }
        if signer.isSigned(by: leaf) {
            list.pass(.signature, Finding.signature)
        } else {
            list.fail(
                .signature, "found a signature over the signed attributes that the signing certificate did not make")
        }
    }

    /// Beside the signing certificate there is exactly one that is not self-issued: its issuer. A root in the token is
    /// passed over, and never trusted.
    private func checkCertificates(
        _ leaf: X509Certificate, _ certificates: [X509Certificate], _ time: ASN1Time, _ list: inout Checklist
    ) {
        let others = certificates.filter { $0 !== leaf && !$0.isSelfIssued }
        guard others.count == 1 else {
            let finding = "found \(others.count) intermediate certificates, expected exactly one"
            list.fail(.markers, finding)
            list.fail(.certificateChain, finding)
            return
        }
        let intermediate = others[0]
        let isMarked = checkMarkers(leaf, intermediate, &list)
        guard leaf.maySign else {
            list.fail(.certificateChain, "found a signing certificate whose key usage lacks digitalSignature")
            return
        }
        switch judge.judge(leaf: leaf, intermediate: intermediate, at: time) {
        case .refused(let reason):
            list.fail(
                .certificateChain,
                "\(reason); expected a chain to a trusted root, valid at the signing time \(time)")
        case .trusted(let root):
            list.pass(.certificateChain, Finding.certificateChain)
            if isMarked { memory.remember(leaf: leaf, intermediate: intermediate, root: root) }
        }
    }

    private func checkMarkers(
        _ leaf: X509Certificate, _ intermediate: X509Certificate, _ list: inout Checklist
    ) -> Bool {
        let missing =
            (leaf.hasExtension(OID.tokenSigningLeaf)
                ? [] : ["the signing certificate lacks \(OID.dotted(OID.tokenSigningLeaf))"])
            + (intermediate.hasExtension(OID.applicationIntegrationCA)
                ? [] : ["the intermediate lacks \(OID.dotted(OID.applicationIntegrationCA))"])
        guard missing.isEmpty else {
            list.fail(.markers, missing.joined(separator: "; ") + "; expected Apple's marker extensions")
            return false
        }
        list.pass(.markers, Finding.markers)
        return true
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
