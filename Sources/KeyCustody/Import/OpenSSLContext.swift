import CLibCrypto

/// A library context of OpenSSL for reading key files, independent of the machine's OpenSSL configuration.
enum OpenSSLContext {
    /// Proof for @unchecked Sendable: OSSL_LIB_CTX is shared between threads by design (OSSL_LIB_CTX(3)).
    private struct Context: @unchecked Sendable {
        let pointer: OpaquePointer
        let hasLegacy: Bool
    }

    /// Created once and never freed. OpenSSL's legacy provider implements RC2-40, the cipher of old PKCS#12 files. This
    /// provider is a separate library file, which may not be installed.
    private static let context: Context = {
        guard let pointer = OSSL_LIB_CTX_new(), OSSL_PROVIDER_load(pointer, "default") != nil else {
            preconditionFailure("libcrypto has the default provider built in")
        }
        return Context(pointer: pointer, hasLegacy: OSSL_PROVIDER_load(pointer, "legacy") != nil)
    }()

    static var hasLegacyProvider: Bool { context.hasLegacy }

    /// Runs `body` with this context as the calling thread's default. Clears the thread's OpenSSL error queue before
    /// and after `body`.
    static func perform<Result: ~Copyable, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let previous = OSSL_LIB_CTX_set0_default(context.pointer)
        ERR_clear_error()
        defer {
            ERR_clear_error()
            OSSL_LIB_CTX_set0_default(previous)
        }
        return try body()
    }
}
