/** Action in the audit log: `{what}.{verb in the past}`. */
export const auditActions = [
  'account.registered',
  'account.deletion_requested',
  'account.deletion_cancelled',
  'archive.requested',
  'archive.downloaded',
  'user.signed_in',
  'user.sign_in_failed',
  'user.name_changed',
  'user.password_reset',
  'user.password_changed',
  'user.address_changed',
  'user.address_taken',
  'user.identity_linked',
  'user.totp_enabled',
  'user.totp_disabled',
  'invitation.sent',
  'invitation.sent_again',
  'invitation.revoked',
  'invitation.accepted',
  'member.joined',
  'member.role_changed',
  'member.removed',
  'member.left',
  'ownership.transferred',
  'project.created',
  'project.renamed',
  'project.deleted',
  'key.created',
  'key.changed',
  'key.rotated',
  'key.revoked',
  'key.handed_over',
  'alert_rule.created',
  'alert_rule.changed',
  'alert_rule.deleted',
  'budget.created',
  'budget.changed',
  'budget.deleted',
  'budget.override_set',
  'budget.override_removed',
  'raise.asked',
  'raise.approved',
  'raise.denied',
  'report.created',
  'report.changed',
  'report.deleted',
  'destination.created',
  'destination.changed',
  'destination.deleted',
  'saving.dismissed',
  'saving.watched',
  'saving.undone',
  'view.created',
  'view.changed',
  'view.deleted',
  'pause.started',
  'pause.ended',
  'access_rule.created',
  'access_rule.changed',
  'access_rule.deleted',
  'alert.acknowledged',
  'dimensions.declared',
  'price.created',
  'price.changed',
  'price.deleted',
  'currency.changed',
  'bill.imported',
  'bill.connected',
  'bill.disconnected',
  'plan.changed',
  'settings.changed',
  'token.created',
  'token.revoked',
  'token.exchanged',
] as const;
export type AuditAction = (typeof auditActions)[number];

/** Who made a request, and from where. */
export interface AuditSource {
  /** Undefined for the service itself, such as a change that the payment processor reported. */
  readonly actor?: { readonly userId: string; readonly name: string } | undefined;
  /** The IP address of the request. */
  readonly clientAddress?: string | undefined;
}

/** One change as its operation describes it. */
export interface AuditFact {
  readonly action: AuditAction;
  /** Id of what was changed. */
  readonly subject?: string | undefined;
  /** Present value, in short texts. Never a secret. */
  readonly details?: Readonly<Record<string, string>> | undefined;
  /** The same of what was there before a change. */
  readonly before?: Readonly<Record<string, string>> | undefined;
}
