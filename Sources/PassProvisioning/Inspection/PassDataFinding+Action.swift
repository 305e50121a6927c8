extension PassDataFinding.Kind {
    /// What to do about a finding of this kind.
    var action: String {
        switch self {
        case .textTooLong: "cut the log to the lines around the request"
        case .noValuesFound: "give the JSON that the app received from the server, or the log with the POST request"
        case .invalidJSON: "write the values as one JSON object in UTF-8"
        case .truncatedText, .truncatedValue, .nonCanonicalBase64: "copy the whole value"
        case .duplicateName: "write each name once"
        case .jsonInString: "encode the values as JSON once"
        case .wrongName: "use the name of the property in PassKit"
        case .wrongType, .byteArray: "write the value as a string in Base64"
        case .missingValue, .emptyValue: "add the value"
        case .whitespace: "write the value on one line; if only the log wraps it, ignore this finding"
        case .base64Twice: "apply Base64 once; a JSON library may already apply it to bytes"
        case .hexInsteadOfBase64: "write the bytes in Base64"
        case .hexInsideBase64: "apply Base64 to the bytes, not to their hexadecimal text"
        case .urlSafeBase64: "use the standard alphabet of Base64 with + and /"
        case .missingPadding: "add = until the length is a multiple of 4"
        case .percentEncoded: "send the value as JSON without percent-encoding"
        case .plusReadAsBlank: "send the value as JSON, not as a form"
        case .escapedTwice: "escape the JSON once"
        case .notBase64: "write the bytes in Base64: standard alphabet, padding, no line breaks"
        case .hiddenByLog: "install Apple's logging profile on the device, or log the value in the app"
        case .dataDescription: "write the bytes in Base64, not the description of the data object"
        case .textDecoded: "treat the bytes as bytes everywhere, never as a text"
        case .pem, .subjectPublicKeyInfo, .compressedPoint, .hybridPoint, .missingPointPrefix, .xCoordinateOnly,
            .leadingZero, .octetString:
            "write the uncompressed point: the byte 04, X and Y, 65 bytes"
        case .pointNotOnCurve, .otherCurve: "generate the ephemeral key pair on the curve P-256"
        case .privateKey: "discard this key pair, and send the public key of a new one"
        case .certificateInsteadOfKey: "send the public key of the ephemeral key pair"
        case .wrongLength: "compare the value at each step from the server to PassKit"
        case .shorterThanTag, .onlyTag, .tooShortForCardData: "send the whole ciphertext with its tag of 16 bytes"
        case .notEncrypted: "encrypt the card data; treat the card number as disclosed where the text was logged"
        case .ephemeralKeyPrepended: "send the ephemeral public key only in its own value"
        case .ivPrepended: "send the ciphertext and the tag only; Apple knows the initialization vector"
        case .valuesSwapped: "exchange the two values"
        case .rsaScheme, .wrappedKeyPresent:
            "make the app request PKEncryptionScheme.ECC_V2, and encrypt with EV_ECC_v2"
        case .paymentTokenVersion, .encryptionVersionSpelling, .unknownEncryptionVersion: "use EV_ECC_v2"
        case .activationDataAbsent: "send the one-time password of the card network, unless the network needs none"
        case .activationDataNotEncoded: "encode the activation data with Base64 once"
        case .activationDataIsCardNumber:
            "send the activation data in this value, and the encrypted card number in the card data"
        case .iv16Bytes: "encrypt with an initialization vector of 12 zero bytes; 16 bytes belong to payment tokens"
        case .tagFirst: "append the tag to the ciphertext"
        case .partyVEmpty, .partyVSubjectPublicKeyInfo, .partyVHash, .partyVOtherForm, .partyVRecipientKey:
            "derive the key with the uncompressed point of the ephemeral public key (65 bytes) as PartyV"
        case .algorithmWithoutLength: "write the byte 0D before id-aes256-GCM in the input of the key derivation"
        case .algorithmBeforeSecret: "write the shared secret before the algorithm identifier in the key derivation"
        case .noKeyDerivation: "derive the key with SHA-256 as NIST SP 800-56A describes it"
        case .decryptionFailed: "check that the card data was encrypted to this leaf, and that no value was changed"
        }
    }
}
