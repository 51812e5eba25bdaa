import { describe, expect, it } from '@jest/globals';
import { inviteesIn } from '../../web/src/members/invitees.ts';

const read = (text: string) => inviteesIn(text, 'developer', ['admin', 'member', 'viewer', 'developer']);
const people = (text: string) => read(text).invitees.map(({ email, role }) => [email, role]);

describe('people to invite', () => {
  it('are in a list, in lines or in CSV with a header', () => {
    expect(people('ada@example.com')).toEqual([['ada@example.com', 'developer']]);
    expect(people('ada@example.com, Bob <bob@example.com>;cy@example.com')).toHaveLength(3);
    expect(people('email;role\r\n"ada@example.com";"Admin"\r\n\r\nbob@example.com;\r\n')).toEqual([
      ['ada@example.com', 'admin'],
      ['bob@example.com', 'developer'],
    ]);
  });

  it('are invited once each, and never as what the user may not give', () => {
    expect(people('ada@example.com\nADA@example.com,viewer')).toEqual([['ADA@example.com', 'viewer']]);
    expect(read('ada@example.com,owner').problem).toBe('Line 1 names a role that you may not give.');
  });

  it('are complete: a line without an address is a problem', () => {
    expect(read('').problem).toMatch(/An e-mail address/);
    expect(read('email\nada@example.com\nbob').problem).toBe('Line 3 has no e-mail address.');
    const many = Array.from({ length: 501 }, (_, index) => `user-${index}@example.com`).join('\n');
    expect(read(many).problem).toBe('500 at once; these are 501.');
    expect(read(many.split('\n').slice(1).join('\n')).problem).toBeNull();
  });
});
