import { operations } from '../lambda/dashboard/operations.ts';
import { isForTokens, type Permission, permissions, permits, roles } from '../lambda/domain/accounts/permissions.ts';

const MARKS = /(?<=<!-- rights -->\n).*(?=<!-- end of rights -->)/s;

const row = (texts: readonly string[]): string => `| ${texts.join(' | ')} |`;

/** Who has a permission: its marks in the columns of the roles, and of API tokens. */
const marksOf = (permission: Permission): string =>
  [...roles.map((role) => permits(role, permission)), isForTokens(permission)]
    .map((isGiven) => (isGiven ? '✓' : ''))
    .join(' | ');

/** Which role has which permission, for all permissions that an operation needs. Those of the same roles share a row. */
const rightsMatrix = (): string => {
  const needed = new Set(operations.map(({ permission }) => permission));
  const byMarks = Map.groupBy(
    permissions.filter((permission) => needed.has(permission)),
    marksOf,
  );
  const head = ['permission', ...roles, 'API tokens'];
  const rows = [...byMarks].map(([marks, of]) => row([of.map((permission) => `\`${permission}\``).join(', '), marks]));
  return [row(head), row(head.map((_, column) => (column === 0 ? '---' : ':-:'))), ...rows].join('\n');
};

/** A page with the matrix of rights as the operations have it. */
export const withRightsMatrix = (page: string): string => page.replace(MARKS, `${rightsMatrix()}\n`);
