package import MerchantCore

/// The form for a new invitation.
package struct NewInvitationPage: HTMLPage {
    /// What was entered in the form.
    package struct Input: Hashable, Sendable {
        package let merchant: String
        package let days: Int
        package let note: String

        package init(merchant: String = "", days: Int = 7, note: String = "") {
            self.merchant = merchant
            self.days = days
            self.note = note
        }
    }

    package enum Problem: Hashable, Sendable, CaseIterable {
        case merchantInvalid, merchantUnknown, daysInvalid, noteInvalid, tooMany, sentTwice, failed

        package init(_ code: MerchantError.Code) {
            switch code {
            case .merchantNotFound: self = .merchantUnknown
            case .tooManyInvitations: self = .tooMany
            case .idempotencyKeyReused: self = .sentTwice
            default: self = .failed
            }
        }
    }

    private struct Days {
        let value: Int
        let isSelected: Bool
        let label: String
    }

    private struct Content {
        let path = PortalPaths.invitations
        let cancelPath = PortalPaths.invitations
        let merchant: String
        let days: [Days]
        let note: String
        /// A problem that belongs to no field.
        var problem: String?
        var merchantProblem: String?
        var daysProblem: String?
        var noteProblem: String?
    }

    /// The durations in days that the form offers.
    package static let durations = [1, 3, 7, 14, 30]

    private let input: Input
    private let problem: Problem?

    package let area = PageArea.invitations
    package let template = PageTemplate.invitationNew

    package init(_ input: Input = Input(), problem: Problem? = nil) {
        self.input = input
        self.problem = problem
    }

    package var isProblem: Bool { problem != nil }

    package var status: Int {
        switch problem {
        case nil: 200
        case .tooMany?: 409
        case .failed?: 500
        case .merchantInvalid?, .merchantUnknown?, .daysInvalid?, .noteInvalid?, .sentTwice?: 422
        }
    }

    package func title(_ text: PageText) -> String { text[.newInvitationTitle] }

    package func content(_ text: PageText) -> Any {
        let selected = Self.durations.contains(input.days) ? input.days : 7
        var content = Content(
            merchant: input.merchant,
            days: Self.durations.map { days in
                Days(value: days, isSelected: days == selected, label: text.counted(.opsDays, days))
            }, note: input.note)
        switch problem {
        case nil: break
        case .merchantInvalid?: content.merchantProblem = text[.newInvitationMerchantInvalid]
        case .merchantUnknown?: content.merchantProblem = text[.newInvitationMerchantUnknown]
        case .daysInvalid?: content.daysProblem = text[.newInvitationDaysInvalid]
        case .noteInvalid?: content.noteProblem = text[.newInvitationNoteInvalid]
        case .tooMany?: content.problem = text[.newInvitationTooMany]
        case .sentTwice?: content.problem = text[.newInvitationSentTwice]
        case .failed?: content.problem = text[.newInvitationFailed]
        }
        return content
    }
}
