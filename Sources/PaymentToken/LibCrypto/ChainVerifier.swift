import CLibCrypto

/// Judges chains against fixed trust roots: signing certificate, one intermediate, one of the roots, nothing else.
final class ChainVerifier: @unchecked Sendable {
    // Proof for @unchecked Sendable: the store is filled once, in init; verifying reads it under libcrypto's own lock.
    private let store: OpaquePointer
    private let roots: [X509Certificate]

    /// SHA-256 and P-256 or RSA-2048 give 112 bits or more; SHA-1 and RSA-1024 in a chain are refused.
    private static let securityLevel: CInt = 2
    /// A root, one intermediate, the signing certificate.
    private static let chainLength = 3

    init(roots: [X509Certificate]) {
        guard let store = X509_STORE_new() else { preconditionFailure("out of memory") }
        for root in roots { X509_STORE_add_cert(store, root.pointer) }
        self.store = store
        self.roots = roots
    }

    deinit { X509_STORE_free(store) }

    /// How a chain was judged.
    enum Judgement {
        /// The root it ends in.
        case trusted(root: X509Certificate)
        /// What is wrong, in words.
        case refused(String)
    }

    /// Whether the three form a chain that was valid at that time: names, signatures, authority bits, path lengths,
    /// critical extensions, validity. RFC 5280 section 6.
    func judge(leaf: X509Certificate, intermediate: X509Certificate, at time: ASN1Time) -> Judgement {
        defer { ERR_clear_error() }
        guard let context = X509_STORE_CTX_new(), let untrusted = OPENSSL_sk_new_null() else {
            preconditionFailure("out of memory")
        }
        defer {
            X509_STORE_CTX_free(context)
            OPENSSL_sk_free(untrusted)
        }
        OPENSSL_sk_push(untrusted, UnsafeRawPointer(intermediate.pointer))
        guard X509_STORE_CTX_init(context, store, leaf.pointer, untrusted) == 1,
            let parameters = X509_STORE_CTX_get0_param(context)
        else { return .refused("libcrypto could not begin to judge the chain") }
        X509_VERIFY_PARAM_set_time(parameters, time_t(time.secondsSince1970))
        X509_VERIFY_PARAM_set_depth(parameters, CInt(Self.chainLength - 2))
        X509_VERIFY_PARAM_set_auth_level(parameters, Self.securityLevel)
        guard X509_verify_cert(context) == 1 else {
            let reason = String(cString: X509_verify_cert_error_string(CLong(X509_STORE_CTX_get_error(context))))
            let place = ["the signing certificate", "the intermediate", "the root"]
            let depth = Int(X509_STORE_CTX_get_error_depth(context))
            return .refused("\(reason), at \(depth < place.count ? place[max(0, depth)] : "depth \(depth)")")
        }
        let chain = LibCrypto.elements(X509_STORE_CTX_get0_chain(context))
        guard chain.count == Self.chainLength, X509_cmp(chain[1], intermediate.pointer) == 0,
            let root = roots.first(where: { X509_cmp($0.pointer, chain[2]) == 0 })
        else { return .refused("a chain of \(chain.count) certificates that leaves out the intermediate or the root") }
        return .trusted(root: root)
    }
}
