import CLibCrypto
import Vocabulary

/// Verifies certificate chains of three certificates: a signing certificate, an intermediate, and a trusted root.
final class ChainVerifier: @unchecked Sendable {
    // Proof for @unchecked Sendable: only `init` adds certificates to the store, and libcrypto locks the store while a
    // verification reads it.
    private let store: OpaquePointer
    private let roots: [X509Certificate]

    /// OpenSSL's security level 2 requires at least 112 bits of security. It accepts SHA-256 with P-256 or RSA-2048,
    /// and rejects SHA-1 and RSA-1024.
    private static let securityLevel: CInt = 2
    /// The number of certificates in a chain.
    private static let chainLength = 3

    init(roots: [X509Certificate]) {
        guard let store = X509_STORE_new() else { preconditionFailure("out of memory") }
        for root in roots { X509_STORE_add_cert(store, root.pointer) }
        self.store = store
        self.roots = roots
    }

    deinit { X509_STORE_free(store) }

    /// The result of a verification.
    enum Outcome {
        /// The chain is valid and ends in this root.
        case valid(root: X509Certificate)
        /// The chain is not valid.
        case invalid(ChainFailure, description: String)
    }

    /// Verifies that the two certificates and a trusted root form a chain that is valid at `time`. libcrypto checks
    /// names, signatures, basic constraints, path lengths, critical extensions and validity periods (RFC 5280 section
    /// 6).
    func verify(leaf: X509Certificate, intermediate: X509Certificate, at time: ASN1Time) -> Outcome {
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
        else {
            return .invalid(
                .other(code: X509_V_ERR_UNSPECIFIED),
                description: "libcrypto could not start the verification of the chain")
        }
        X509_VERIFY_PARAM_set_time(parameters, time_t(time.secondsSince1970))
        // The depth counts only the certificates between the signing certificate and the root.
        X509_VERIFY_PARAM_set_depth(parameters, CInt(Self.chainLength - 2))
        X509_VERIFY_PARAM_set_auth_level(parameters, Self.securityLevel)
        guard X509_verify_cert(context) == 1 else {
            let code = X509_STORE_CTX_get_error(context)
            let reason = String(cString: X509_verify_cert_error_string(CLong(code)))
            let namesByDepth = ["the signing certificate", "the intermediate", "the root"]
            let depth = Int(X509_STORE_CTX_get_error_depth(context))
            let certificateName =
                depth < namesByDepth.count ? namesByDepth[max(0, depth)] : "the certificate at depth \(depth)"
            return .invalid(ChainFailure(code: code), description: "\(certificateName): \(reason)")
        }
        let chain = LibCrypto.elements(X509_STORE_CTX_get0_chain(context))
        guard chain.count == Self.chainLength, X509_cmp(chain[1], intermediate.pointer) == 0,
            let root = roots.first(where: { X509_cmp($0.pointer, chain[2]) == 0 })
        else {
            return .invalid(
                .unexpectedChain,
                description:
                    "the chain of \(chain.count.counted("certificate")) does not consist of the signing certificate, "
                    + "the intermediate and a trusted root")
        }
        return .valid(root: root)
    }
}
