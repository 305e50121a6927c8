/// How tokens are encrypted to a key pair. The names are those of a token's `version`.
package enum KeyAlgorithm: String, NamedValue {
    /// P-256 key agreement; every region but mainland China.
    case ecV1 = "EC_v1"
    /// RSA-2048 key wrapping; mainland China. Identity key pairs are RSA-2048 too and have this algorithm.
    case rsaV1 = "RSA_v1"
}
