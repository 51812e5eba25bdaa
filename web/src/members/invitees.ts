import { type GrantableRole, roleTexts } from './roles.ts';

interface Invitee {
  readonly email: string;
  readonly role: GrantableRole;
}

/** The most that the API takes at once. */
const MAX_INVITEES = 500;

const ADDRESS = /[^\s,;:<>"']+@[^\s,;:<>"']+/g;

/**
 * The people in a list or CSV: every mail address, and the role that its line names. A first line without an address is the header.
 *
 * @param role of lines that name none
 * @param roles that the user may give
 */
export const inviteesIn = (
  text: string,
  role: GrantableRole,
  roles: readonly GrantableRole[],
): { readonly invitees: readonly Invitee[]; readonly problem: string | null } => {
  const lines = text.split('\n').map((line, index) => ({ line: line.trim(), number: index + 1 }));
  const full = lines.filter(({ line }) => line !== '');
  const withoutAddress = full.find(({ line }, index) => index > 0 && !line.includes('@'));
  const wordsOf = (line: string) => line.toLowerCase().split(/[\s,;"]+/);
  const above = Object.keys(roleTexts).filter((each) => !(roles as readonly string[]).includes(each));
  const tooMuch = full.find(({ line }) => line.includes('@') && above.some((each) => wordsOf(line).includes(each)));
  const all = full.flatMap(({ line }) => {
    const words = wordsOf(line);
    const own = roles.find((each) => words.includes(each));
    return (line.match(ADDRESS) ?? []).map((email): Invitee => ({ email, role: own ?? role }));
  });
  const invitees = [...new Map(all.map((each) => [each.email.toLowerCase(), each])).values()];
  const problemOf = (): string | null => {
    if (invitees.length === 0) return 'An e-mail address, such as ada@example.com.';
    if (withoutAddress) return `Line ${withoutAddress.number} has no e-mail address.`;
    if (tooMuch) return `Line ${tooMuch.number} names a role that you may not give.`;
    return invitees.length > MAX_INVITEES ? `${MAX_INVITEES} at once; these are ${invitees.length}.` : null;
  };
  return { invitees, problem: problemOf() };
};
