import Secrets
import Vocabulary

/// A private key in the form in which it is sealed.
///
/// EC_v1: the P-256 scalar, 32 bytes, big-endian. RSA_v1: `RSAPrivateKey` in DER, RFC 8017 appendix A.1.2.
struct PrivateKeyBytes: ~Copyable {
    let algorithm: KeyAlgorithm
    let bytes: SecretBytes
}
