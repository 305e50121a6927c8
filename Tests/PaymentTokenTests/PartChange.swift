import Crypto
import PaymentToken
import Testing

/// One part of a token changed after it was signed, and why it must be refused.
struct PartChange: Sendable, CustomTestStringConvertible {
    /// Why a token is refused.
    enum Refusal: Sendable, Equatable {
        /// It does not read as a token.
        case unreadable(PaymentTokenError.Code)
        /// These checks of its signature fail; all others pass or have nothing to judge.
        case checks(Set<TokenVerification.CheckName>)
        /// Its signature holds, which does not cover publicKeyHash: but no key has that name.
        case keyNotFound
    }

    let testDescription: String
    let refusal: Refusal
    /// Words that the refusal must hold, by the versions they are for.
    let says: [ApplePayToken.Version: String]
    let change: @Sendable (inout TestMint.Parts) throws -> Void

    init(
        _ name: String, _ refusal: Refusal, says: String = "", rsa: String? = nil,
        _ change: @escaping @Sendable (inout TestMint.Parts) throws -> Void
    ) {
        testDescription = name
        self.refusal = refusal
        self.says = [.ecV1: says, .rsaV1: rsa ?? says]
        self.change = change
    }

    /// A change inside the CMS message.
    static func message(
        _ name: String, _ fails: Set<TokenVerification.CheckName>, says: String = "",
        _ change: @escaping @Sendable (inout SignatureTree) throws -> Void
    ) -> PartChange {
        PartChange(name, .checks(fails), says: says) { parts in
            var tree = try SignatureTree(parts.signature)
            try change(&tree)
            parts.signature = tree.root.encoded
        }
    }
}

/// A token's CMS message, taken apart; the parts have the names of RFC 5652 and RFC 5280.
struct SignatureTree {
    var root: BERNode

    init(_ signature: [UInt8]) throws {
        root = try BERNode(parsing: signature)
        try #require(root.encoded == signature, "taken apart and put together, a signature is the same")
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
    /// The signing certificate comes first in every token seen.
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

    /// The place of an attribute among the signed ones.
    func place(of type: String) throws -> Int {
        try #require(attributes.children.firstIndex { $0.children.first?.encoded == DER.oid(type) })
    }

    /// The only value of a signed attribute.
    mutating func changeAttribute(_ type: String, _ change: (inout BERNode) -> Void) throws {
        let index = try place(of: type)
        change(&attributes.children[index].children[1].children[0])
    }
}

/// A certificate, taken apart.
struct CertificateTree {
    var node: BERNode

    private subscript(_ place: Int) -> BERNode {
        get { node[[0, place]] }
        set { node[[0, place]] = newValue }
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

    /// Exchanges the bytes of every text in a name by others of the same length.
    static func rename(_ name: inout BERNode) {
        if name.tag == 0x0C || name.tag == 0x13 {
            name.bytes = name.bytes.map { $0 == UInt8(ascii: "e") ? UInt8(ascii: "i") : $0 }
        }
        for index in name.children.indices { rename(&name.children[index]) }
    }
}
