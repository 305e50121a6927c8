import Crypto
import PaymentToken
import Testing

/// A change of one part of a token after it was signed, and the expected rejection.
struct PartChange: Sendable, CustomTestStringConvertible {
    /// The step that rejects the token.
    enum Rejection: Sendable, Equatable {
        /// The token cannot be parsed.
        case parsing(PaymentTokenError.Code)
        /// These checks of the signature fail; all others pass or are not made.
        case checks(Set<TokenVerification.CheckName>)
        /// The signature, which does not cover publicKeyHash, is valid, but no key has this hash.
        case keyNotFound
    }

    let testDescription: String
    let rejection: Rejection
    /// A field name or value that the error of the parser must contain, for each version.
    let mentions: [ApplePayToken.Version: String]
    /// The reason of one of the failed checks; nil for any.
    let reason: FailureReason?
    let change: @Sendable (inout TestMint.Parts) throws -> Void

    init(
        _ name: String, _ rejection: Rejection, mentions: String = "", rsa: String? = nil,
        reason: FailureReason? = nil, _ change: @escaping @Sendable (inout TestMint.Parts) throws -> Void
    ) {
        testDescription = name
        self.rejection = rejection
        self.mentions = [.ecV1: mentions, .rsaV1: rsa ?? mentions]
        self.reason = reason
        self.change = change
    }

    /// A change inside the CMS message.
    static func message(
        _ name: String, _ fails: Set<TokenVerification.CheckName>, reason: FailureReason? = nil,
        _ change: @escaping @Sendable (inout SignatureTree) throws -> Void
    ) -> PartChange {
        PartChange(name, .checks(fails), reason: reason) { parts in
            var tree = try SignatureTree(parts.signature)
            try change(&tree)
            parts.signature = tree.root.encoded
        }
    }
}

/// The CMS message of a token as a tree. The properties have the names of RFC 5652 and RFC 5280.
struct SignatureTree {
    var root: BERNode

    init(_ signature: [UInt8]) throws {
        root = try BERNode(parsing: signature)
        try #require(root.encoded == signature, "parsing and encoding does not change the signature")
    }

    private static let signedDataPath = [1, 0]
    private static let signerPath = signedDataPath + [4, 0]

    var contentType: BERNode {
        get { root[[0]] }
        set { root[[0]] = newValue }
    }
    var version: BERNode {
        get { root[Self.signedDataPath + [0]] }
        set { root[Self.signedDataPath + [0]] = newValue }
    }
    var digestAlgorithms: BERNode {
        get { root[Self.signedDataPath + [1]] }
        set { root[Self.signedDataPath + [1]] = newValue }
    }
    var content: BERNode {
        get { root[Self.signedDataPath + [2]] }
        set { root[Self.signedDataPath + [2]] = newValue }
    }
    var certificates: BERNode {
        get { root[Self.signedDataPath + [3]] }
        set { root[Self.signedDataPath + [3]] = newValue }
    }
    /// The signing certificate, which is the first one in all known tokens.
    var leaf: CertificateTree {
        get { CertificateTree(node: certificates.children[0]) }
        set { certificates.children[0] = newValue.node }
    }
    var intermediate: CertificateTree {
        get { CertificateTree(node: certificates.children[1]) }
        set { certificates.children[1] = newValue.node }
    }
    var signers: BERNode {
        get { root[Self.signedDataPath + [4]] }
        set { root[Self.signedDataPath + [4]] = newValue }
    }
    var signerVersion: BERNode {
        get { root[Self.signerPath + [0]] }
        set { root[Self.signerPath + [0]] = newValue }
    }
    var issuerAndSerialNumber: BERNode {
        get { root[Self.signerPath + [1]] }
        set { root[Self.signerPath + [1]] = newValue }
    }
    var digestAlgorithm: BERNode {
        get { root[Self.signerPath + [2]] }
        set { root[Self.signerPath + [2]] = newValue }
    }
    var attributes: BERNode {
        get { root[Self.signerPath + [3]] }
        set { root[Self.signerPath + [3]] = newValue }
    }
    var signatureAlgorithm: BERNode {
        get { root[Self.signerPath + [4]] }
        set { root[Self.signerPath + [4]] = newValue }
    }
    var signature: BERNode {
        get { root[Self.signerPath + [5]] }
        set { root[Self.signerPath + [5]] = newValue }
    }

    /// Returns the index of a signed attribute.
    func index(of type: String) throws -> Int {
        try #require(attributes.children.firstIndex { $0.children.first?.encoded == DER.oid(type) })
    }

    /// Changes the value of a signed attribute.
    mutating func changeAttribute(_ type: String, _ change: (inout BERNode) -> Void) throws {
        let index = try index(of: type)
        change(&attributes.children[index].children[1].children[0])
    }
}

/// A certificate as a tree.
struct CertificateTree {
    var node: BERNode

    /// A field of the TBSCertificate.
    private subscript(_ index: Int) -> BERNode {
        get { node[[0, index]] }
        set { node[[0, index]] = newValue }
    }
    var serialNumber: BERNode {
        get { self[1] }
        set { self[1] = newValue }
    }
    var issuer: BERNode {
        get { self[3] }
        set { self[3] = newValue }
    }
    var notBefore: BERNode {
        get { node[[0, 4, 0]] }
        set { node[[0, 4, 0]] = newValue }
    }
    var notAfter: BERNode {
        get { node[[0, 4, 1]] }
        set { node[[0, 4, 1]] = newValue }
    }
    var subject: BERNode {
        get { self[5] }
        set { self[5] = newValue }
    }
    var publicKey: BERNode {
        get { node[[0, 6, 1]] }
        set { node[[0, 6, 1]] = newValue }
    }
    var signatureAlgorithm: BERNode {
        get { node[[1]] }
        set { node[[1]] = newValue }
    }
    var signature: BERNode {
        get { node[[2]] }
        set { node[[2]] = newValue }
    }

    /// Replaces each `e` in the strings of a distinguished name by `i`, so that their lengths stay the same.
    static func rename(_ name: inout BERNode) {
        if name.tag == 0x0C || name.tag == 0x13 {
            name.bytes = name.bytes.map { $0 == UInt8(ascii: "e") ? UInt8(ascii: "i") : $0 }
        }
        for index in name.children.indices { rename(&name.children[index]) }
    }
}
