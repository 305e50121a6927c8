extension PassDataFinding {
    /// The kinds of findings about provisioning values. The raw values are the codes.
    public enum Kind: String, CaseIterable, Sendable {
        /// The text is too long to be inspected.
        case textTooLong
        /// The text contains no value of in-app provisioning.
        case noValuesFound
        /// The JSON text is not valid, or exceeds the limits of the parser.
        case invalidJSON
        /// The text ends inside the JSON object.
        case truncatedText
        /// A name occurs twice in a JSON object.
        case duplicateName
        /// The JSON was written as a JSON string.
        case jsonInString
        /// A value has another name than PassKit's.
        case wrongName
        /// A value has the wrong JSON type.
        case wrongType
        /// A value was written as an array of numbers.
        case byteArray

        /// A value is missing.
        case missingValue
        /// A value is empty.
        case emptyValue
        /// A value contains white space, for example from the line wrapping of a log.
        case whitespace
        /// A value was encoded with Base64 twice.
        case base64Twice
        /// A value is hexadecimal instead of Base64.
        case hexInsteadOfBase64
        /// A value is the Base64 text of a hexadecimal text.
        case hexInsideBase64
        /// A value uses the URL alphabet of Base64.
        case urlSafeBase64
        /// A value lacks the padding of Base64.
        case missingPadding
        /// Unused bits of the Base64 text are not zero.
        case nonCanonicalBase64
        /// A value is percent-encoded.
        case percentEncoded
        /// Every `+` of a value became a blank.
        case plusReadAsBlank
        /// A value contains backslashes.
        case escapedTwice
        /// A value is neither Base64 nor hexadecimal.
        case notBase64
        /// A value is cut off.
        case truncatedValue
        /// The log shows a placeholder in place of a value.
        case hiddenByLog
        /// A value was printed as a description of a data object.
        case dataDescription
        /// A program decoded the bytes of a value as text, and encoded the text again.
        case textDecoded
        /// A value is PEM.
        case pem

        /// The key is a DER `SubjectPublicKeyInfo` instead of a point.
        case subjectPublicKeyInfo
        /// The key is a compressed point.
        case compressedPoint
        /// The key is a point in hybrid form.
        case hybridPoint
        /// The first byte 04 of the point is missing.
        case missingPointPrefix
        /// The key is only the X coordinate of a point, or a private key.
        case xCoordinateOnly
        /// A zero byte stands before the point.
        case leadingZero
        /// The point is wrapped in a DER OCTET STRING.
        case octetString
        /// The point is not on the curve P-256.
        case pointNotOnCurve
        /// The key is on another curve than P-256.
        case otherCurve
        /// The value is a private key.
        case privateKey
        /// The value is a certificate, or another large structure in DER.
        case certificateInsteadOfKey
        /// A value has the wrong length.
        case wrongLength

        /// The encrypted card data is shorter than the GCM tag.
        case shorterThanTag
        /// The encrypted card data consists of the GCM tag only.
        case onlyTag
        /// The encrypted card data is too short to contain card data.
        case tooShortForCardData
        /// The card data is not encrypted.
        case notEncrypted
        /// The ephemeral public key stands before the ciphertext.
        case ephemeralKeyPrepended
        /// The initialization vector stands before the ciphertext.
        case ivPrepended
        /// The ephemeral public key and the encrypted card data are interchanged.
        case valuesSwapped

        /// The encryption scheme is EV_RSA_v2, which this library does not support.
        case rsaScheme
        /// The encryption scheme belongs to payment tokens.
        case paymentTokenVersion
        /// The name of the encryption scheme is misspelled.
        case encryptionVersionSpelling
        /// The encryption scheme is unknown.
        case unknownEncryptionVersion
        /// There is a wrapped key, which belongs to EV_RSA_v2.
        case wrappedKeyPresent

        /// Warning: there is no activation data.
        case activationDataAbsent
        /// The activation data was not encoded with Base64.
        case activationDataNotEncoded
        /// The value is an encrypted card number (`MBPAD`), not activation data (`MBPAC`).
        case activationDataIsCardNumber

        /// The card data was encrypted with an initialization vector of 16 bytes.
        case iv16Bytes
        /// The GCM tag stands before the ciphertext.
        case tagFirst
        /// The key was derived without PartyV.
        case partyVEmpty
        /// The key was derived with the `SubjectPublicKeyInfo` of the ephemeral key as PartyV.
        case partyVSubjectPublicKeyInfo
        /// The key was derived with a hash as PartyV, as for payment tokens.
        case partyVHash
        /// The key was derived with the ephemeral key as PartyV, but not as an uncompressed point.
        case partyVOtherForm
        /// The key was derived with Apple's public key as PartyV.
        case partyVRecipientKey
        /// The key was derived without the length byte of the algorithm identifier.
        case algorithmWithoutLength
        /// The key was derived with the algorithm identifier before the shared secret.
        case algorithmBeforeSecret
        /// The shared secret or its hash was used as the key.
        case noKeyDerivation
        /// The card data cannot be decrypted.
        case decryptionFailed
    }
}
