/// The templates in `Resources/Templates`. The raw value is the name of the file without its extension.
package enum PageTemplate: String, Sendable, CaseIterable {
    // Pages.
    case message, confirm, home, keys, domains, fleet, search, invitations
    case fleetMerchant = "fleet-merchant"
    case invitationNew = "invitation-new"
    case invitationCreated = "invitation-created"
    // Parts of pages.
    case layout, alert, stepper, upload
    case appleActivate = "apple-activate"
    case appleCreate = "apple-create"
    case barList = "bar-list"
    case formFields = "form-fields"
    case keyTable = "key-table"
    case keyTimeline = "key-timeline"
    case weekChart = "week-chart"

    /// The text of every template, by name.
    package static var sources: [String: String] {
        var sources: [String: String] = [:]
        for template in allCases { sources[template.rawValue] = String(decoding: template.source, as: UTF8.self) }
        return sources
    }

    private var source: [UInt8] {
        switch self {
        case .message: PackageResources.message_mustache
        case .confirm: PackageResources.confirm_mustache
        case .home: PackageResources.home_mustache
        case .keys: PackageResources.keys_mustache
        case .domains: PackageResources.domains_mustache
        case .fleet: PackageResources.fleet_mustache
        case .search: PackageResources.search_mustache
        case .invitations: PackageResources.invitations_mustache
        case .fleetMerchant: PackageResources.fleet_merchant_mustache
        case .invitationNew: PackageResources.invitation_new_mustache
        case .invitationCreated: PackageResources.invitation_created_mustache
        case .layout: PackageResources.layout_mustache
        case .alert: PackageResources.alert_mustache
        case .stepper: PackageResources.stepper_mustache
        case .upload: PackageResources.upload_mustache
        case .appleActivate: PackageResources.apple_activate_mustache
        case .appleCreate: PackageResources.apple_create_mustache
        case .barList: PackageResources.bar_list_mustache
        case .formFields: PackageResources.form_fields_mustache
        case .keyTable: PackageResources.key_table_mustache
        case .keyTimeline: PackageResources.key_timeline_mustache
        case .weekChart: PackageResources.week_chart_mustache
        }
    }
}
