import type { Role } from '../api/responses.ts';

/** What each role may do, in a line. */
export const roleTexts: Readonly<Record<Role, string>> = {
  owner: 'Everything',
  admin: 'Everything but billing, deletion and single sign-on',
  member: 'Reads all; changes rules and own keys',
  viewer: 'Reads all',
  billing: 'Spend and billing',
};

/** The owner's role changes by a transfer. */
export const grantableRoles = ['admin', 'member', 'viewer', 'billing'] as const;
export type GrantableRole = (typeof grantableRoles)[number];

export const roleOptions = grantableRoles.map((role) => ({ value: role, label: `${role}: ${roleTexts[role]}` }));
