/// How payment tokens are encrypted to a key pair. The raw values are the values of a token's field `version`.
package enum KeyAlgorithm: String, NamedValue {
    /// P-256 key agreement, for every region but mainland China.
    case ecV1 = "EC_v1"
    /// RSA-2048 key wrapping, for mainland China. Identity key pairs, which authenticate the platform or a merchant to
    /// Apple in TLS, are RSA-2048 too and have this algorithm.
    case rsaV1 = "RSA_v1"
}
