import Crypto
import FoundationEssentials
import PassProvisioning

extension BrokenPass {
    static let ciphertexts: [BrokenPass] = [
        BrokenPass("shorter than the tag", ["shorterThanTag"], decryption: .notAttempted) {
            $0.json(ciphertextBytes: [UInt8](repeating: 0xFE, count: 15))
        },
        BrokenPass("the tag alone", ["onlyTag"], decryption: .notAttempted) {
            $0.json(ciphertextBytes: [UInt8](repeating: 0xFE, count: 16))
        },
        BrokenPass("too short for card data", ["tooShortForCardData", "decryptionFailed"], decryption: .failed) {
            $0.json(ciphertextBytes: Array($0.ciphertext.prefix(50)))
        },
        BrokenPass("too long", ["wrongLength", "decryptionFailed"], decryption: .failed) {
            $0.json(ciphertextBytes: [UInt8](repeating: 0xFE, count: 20_000))
        },
        BrokenPass("truncated", ["decryptionFailed"], decryption: .failed) {
            $0.json(ciphertextBytes: Array($0.ciphertext.dropLast(3)))
        },
        BrokenPass("doubled", ["decryptionFailed"], decryption: .failed) {
            $0.json(ciphertextBytes: $0.ciphertext + $0.ciphertext)
        },
        BrokenPass("one bit changed", ["decryptionFailed"], decryption: .failed) {
            $0.json(ciphertextBytes: [$0.ciphertext[0] ^ 1] + $0.ciphertext.dropFirst())
        },
        BrokenPass("not encrypted", ["notEncrypted"], decryption: .notAttempted) {
            $0.json(ciphertext: base64(TestCard.mastercard.plaintext))
        },
        BrokenPass(
            "not encrypted, with another fault", ["notEncrypted", "expirationMonth"],
            decryption: .notAttempted
        ) {
            $0.json(ciphertext: base64(TestCard.mastercard.with("expiration", #""31/04""#).plaintext))
        },
        BrokenPass("the key before the ciphertext", ["ephemeralKeyPrepended"]) {
            $0.json(ciphertextBytes: $0.point + $0.ciphertext)
        },
        BrokenPass("only the key before the ciphertext", ["missingValue", "ephemeralKeyPrepended"]) {
            $0.json(ciphertextBytes: $0.point + $0.ciphertext).replacing("ephemeralPublicKey", with: "other")
        },
        BrokenPass("the IV before the ciphertext", ["ivPrepended"]) {
            $0.json(ciphertextBytes: [UInt8](repeating: 0, count: 12) + $0.ciphertext)
        },
        BrokenPass("swapped", ["valuesSwapped"]) { $0.json(point: $0.ciphertextBase64, ciphertext: $0.pointBase64) },
        BrokenPass("swapped, SubjectPublicKeyInfo", ["valuesSwapped", "subjectPublicKeyInfo"]) {
            $0.json(point: $0.ciphertextBase64, ciphertext: TestBase64.encode($0.subjectPublicKeyInfo))
        },
        BrokenPass("encrypted for another leaf", ["decryptionFailed"], decryption: .failed) { _ in
            try TestPass(leafKey: P256.KeyAgreement.PrivateKey().publicKey).json()
        },
    ]

    static let versions: [BrokenPass] = [
        BrokenPass("EV_RSA_v2", ["rsaScheme"]) { $0.json(more: #","encryptionVersion":"EV_RSA_v2""#) },
        BrokenPass(
            "EV_RSA_v2 with a wrapped key", ["rsaScheme", "wrappedKeyPresent", "missingValue"],
            decryption: .notAttempted
        ) {
            $0.json(more: #","encryptionVersion":"EV_RSA_v2""#)
                .replacing("ephemeralPublicKey", with: "wrappedKey")
        },
        BrokenPass("EV_ECC_v2 with a wrapped key", ["wrappedKeyPresent"]) {
            $0.json(more: #","encryptionVersion":"EV_ECC_v2","wrappedKey":"AAAA""#)
        },
        BrokenPass("EC_v1", ["paymentTokenVersion"]) { $0.json(more: #","encryptionVersion":"EC_v1""#) },
        BrokenPass("ECC_V2", ["encryptionVersionSpelling"]) { $0.json(more: #","encryptionScheme":"ECC_V2""#) },
        BrokenPass("unknown version", ["unknownEncryptionVersion"]) {
            $0.json(more: #","encryptionVersion":"EV_ECC_v3""#)
        },
    ]

    static let documents: [BrokenPass] = [
        BrokenPass("a name twice", ["duplicateName"]) {
            $0.json(more: ",\"ephemeralPublicKey\":\"\($0.pointBase64)\"")
        },
        BrokenPass("cut after a value", ["truncatedText", "activationDataAbsent"]) {
            String($0.json(activation: nil).dropLast())
        },
        BrokenPass(
            "cut inside of a value", ["truncatedText", "truncatedValue"],
            decryption: .notAttempted
        ) {
            "{\"encryptedPassData\":\"\($0.ciphertextBase64)\",\"activationData\":\"TUJQQUM=\",\"ephemeralPublicKey\":\"BB"
        },
        BrokenPass("a comma too many", ["invalidJSON"]) { $0.json(more: ",") },
        BrokenPass("no JSON object", ["noValuesFound"], decryption: .notAttempted) { _ in "500 Internal Server Error" },
        BrokenPass("an empty object", ["noValuesFound"], decryption: .notAttempted) { _ in "{}" },
        BrokenPass("an empty text", ["noValuesFound"], decryption: .notAttempted) { _ in "" },
        BrokenPass("JSON in a string", ["jsonInString"]) {
            "\"\($0.json().replacing("\"", with: "\\\""))\""
        },
        BrokenPass("another name", ["wrongName"]) { $0.json().replacing("ephemeralPublicKey", with: "ephemeralKey") },
        BrokenPass("a name in other case", ["wrongName"]) {
            $0.json().replacing("encryptedPassData", with: "encrypted_pass_data")
        },
    ]
}
