extension CardDataFinding {
    /// The kinds of findings about card data. The raw values are the codes.
    ///
    /// A *key* is the name of a member of the JSON object. A *configuration* is one of Apple's three forms of card
    /// data: see ``CardConfiguration``.
    public enum Kind: String, CaseIterable, Sendable {
        /// The text is not valid JSON, or is too large for card data.
        case notJSON
        /// The JSON text is not an object.
        case notObject
        /// A key occurs twice in one object.
        case duplicateKey
        /// The plaintext begins with a byte order mark.
        case byteOrderMark
        /// The plaintext is encoded as UTF-16.
        case utf16
        /// The plaintext is the Base64 text of the JSON.
        case plaintextBase64
        /// The plaintext is a JSON string that contains the JSON.
        case jsonInString
        /// The JSON is followed by padding.
        case paddingAfterJSON

        /// The caller's card contains no key.
        case emptyCard
        /// A required key is missing.
        case missingKey
        /// The card contains a key that belongs only to other configurations, or an auxiliary card contains a key that
        /// only the card itself may have.
        case forbiddenKey
        /// The caller's card contains `nonce`, `nonceSignature` or `version` (for version 0: ``versionDeprecated``).
        /// The library adds these keys when it writes the card data.
        case reservedKey
        /// Apple has published no such key.
        case unknownKey
        /// A value has the wrong JSON type.
        case wrongType
        /// The card contains both the card number and the encrypted card number.
        case bothCardNumbers
        /// The card contains neither the card number nor the encrypted card number.
        case noCardNumber

        /// Cards of the network never have this configuration.
        case configurationNotAvailable
        /// Warning: Apple's documents do not say whether cards of the network can have this configuration. Some issuers
        /// agree on it with the network.
        case configurationUnusual
        /// Warning: the keys of configuration 2 are not published, so the card was checked only in part.
        case configurationNotValidated
        /// The version is 0, which Apple deprecated.
        case versionDeprecated
        /// The version is neither 0 nor 1.
        case versionUnknown

        /// The card number contains blanks or hyphens.
        case cardNumberSeparators
        /// The card number contains characters other than digits.
        case cardNumberNotDigits
        /// The network has no card numbers of this length. If the network is not known, no network has.
        case cardNumberLength
        /// The last digit of the card number is not the check digit of the other digits.
        case cardNumberCheckDigit
        /// Warning: the card number begins with the digits of a network of another company.
        case cardNumberOtherNetwork
        /// The value of `primaryAccountNumberPrefix` does not consist of six digits.
        case cardNumberPrefix
        /// The expiration date is not written as MM/YY.
        case expirationForm
        /// The month of the expiration date is not 01 to 12.
        case expirationMonth
        /// The card has expired: the month of its expiration date is over.
        case expirationPast

        /// A name (the cardholder's, or the network name of an auxiliary card) contains only blanks and invisible
        /// characters.
        case nameBlank
        /// A name is empty, or has too many bytes.
        case nameLength
        /// A name contains a control character, an invisible character or a replacement character.
        case nameCharacter
        /// Warning: the cardholder's name looks like UTF-8 that was read as Latin-1.
        case nameTextDecoded
        /// The network name is not one of Apple's.
        case networkNameUnknown
        /// The network name is the name of a network of another company.
        case networkNameMismatch
        /// The product type does not consist of 1 to 32 ASCII letters, digits, hyphens and underscores.
        case productTypeForm

        /// The value is the text of the encrypted card number (`MBPAD…`), without the required Base64 encoding.
        case encryptedNumberNotEncoded
        /// The value is neither the text of the encrypted card number nor valid Base64.
        case encryptedNumberNotBase64
        /// The encrypted card number was encoded with Base64 twice.
        case encryptedNumberBase64Twice
        /// The value is activation data (`MBPAC`), not an encrypted card number (`MBPAD`).
        case encryptedNumberIsActivationData
        /// The decoded text does not have the form of an encrypted card number.
        case encryptedNumberForm
        /// The ciphertext is empty, is not hexadecimal, or does not consist of whole blocks.
        case encryptedNumberCiphertext
        /// The encrypted card number is empty or too long.
        case encryptedNumberLength

        /// The array of auxiliary cards is empty, or has more than 4 cards.
        case auxiliaryCardsCount
        /// Warning: the keys of auxiliary cards are not published, so this key was not checked.
        case auxiliaryKeyNotValidated

        /// The nonce is not hexadecimal.
        case nonceNotHexadecimal
        /// The nonce is Base64 instead of hexadecimal.
        case nonceBase64
        /// The nonce was encoded as hexadecimal twice.
        case nonceHexTwice
        /// Before the nonce was encoded, a program converted its bytes to a string and back, which changed them.
        case nonceTextDecoded
        /// The nonce does not have 4 bytes.
        case nonceLength
        /// The nonce signature is not hexadecimal.
        case nonceSignatureNotHexadecimal
        /// The nonce signature is Base64 instead of hexadecimal.
        case nonceSignatureBase64
        /// The nonce signature was encoded as hexadecimal twice.
        case nonceSignatureHexTwice
        /// Before the nonce signature was encoded, a program converted its bytes to a string and back, which changed
        /// them.
        case nonceSignatureTextDecoded
        /// The nonce signature is too short or too long.
        case nonceSignatureLength
        /// Warning: the nonce signature does not have 81 bytes, the length that Apple's devices use.
        case nonceSignatureUnusualLength

        /// Whether the card data can be used in spite of the finding.
        public var isWarning: Bool {
            switch self {
            case .configurationUnusual, .configurationNotValidated, .cardNumberOtherNetwork, .nameTextDecoded,
                .auxiliaryKeyNotValidated, .nonceSignatureUnusualLength:
                true
            default: false
            }
        }
    }
}
