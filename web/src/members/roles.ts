import type { Me, Role } from '../api/responses.ts';

export const roleTexts: Readonly<Record<Role, string>> = {
  owner: 'Everything',
  admin: 'Everything but billing, deletion and single sign-on',
  member: 'Reads all; changes rules and own keys',
  viewer: 'Reads all',
  billing: 'Spend and billing',
  developer: 'Own keys, and their spend, requests and limits',
};

/** The owner's role changes by a transfer. */
export type GrantableRole = Exclude<Role, 'owner'>;

export const grantableRoles = (me: Me | undefined): GrantableRole[] =>
  (me?.user.grantableRoles ?? []).filter((role) => role !== 'owner');

export const roleOptions = (me: Me | undefined) =>
  grantableRoles(me).map((role) => ({ value: role, label: `${role}: ${roleTexts[role]}` }));
