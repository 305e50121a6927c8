import CLibCrypto

/// OpenSSL's algorithms for reading old key files, apart from whatever the process's own OpenSSL settings say.
enum LibCrypto {
    /// Proof for @unchecked Sendable: OSSL_LIB_CTX is shared between threads by design (OSSL_LIB_CTX(3)).
    private struct Context: @unchecked Sendable {
        let pointer: OpaquePointer
        let hasLegacy: Bool
    }

    /// Made once, kept for good. The legacy provider (RC2-40, the cipher of old PKCS#12 files) is a file of its own and may
    /// be missing.
    private static let context: Context = {
        guard let pointer = OSSL_LIB_CTX_new(), OSSL_PROVIDER_load(pointer, "default") != nil else {
            preconditionFailure("libcrypto has the default provider built in")
        }
        return Context(pointer: pointer, hasLegacy: OSSL_PROVIDER_load(pointer, "legacy") != nil)
    }()

    static var hasLegacyProvider: Bool { context.hasLegacy }

    /// Runs `body` with these algorithms as the calling thread's own, and leaves no error behind on the thread.
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
