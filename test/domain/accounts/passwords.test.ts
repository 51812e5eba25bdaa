import { describe, expect, it } from '@jest/globals';
import { PASSWORD_RULES, passwordProblem } from '../../../lambda/domain/accounts/passwords.ts';

const words = ['ada.lovelace@example.com', 'Ada', 'Lovelace', 'Analytical Engines'];

describe('a new password', () => {
  it.each([
    'correct horse battery',
    'correcthorsebattery',
    'пароль-длинный-конь',
    'pass word ü9 lamp',
    '😀 lamp 😀 wombat 😀',
    'Correct-Horse-7',
    'xxxKf8#qLw2!mZr',
    '839201748362',
    'xkqvzw839201!',
    'Summer2026!!wombat',
  ])('may be %j', async (password) => {
    expect(await passwordProblem(password, words)).toBeUndefined();
  });

  it.each([
    ['fewer than 12 characters', 'Kf8#qLw2!mZ'],
    ['more than 256', 'Kf8#qLw2!mZr'.repeat(22)],
    ['a space before', ' correct horse battery'],
    ['a space behind', 'correct horse battery '],
    ['a line break', 'correct\nhorse battery'],
    ['a line separator', 'correct horse\u2028battery staple'],
    ['what no keyboard has', 'correct\u0000horse battery'],
  ])('may not have %s', async (_, password) => {
    expect(await passwordProblem(password, words)).toBe(PASSWORD_RULES);
  });

  it.each([
    ['common', '123456789012', 'used most'],
    ['close to common', 'P@ssw0rd2026!', 'used most'],
    ['a common one with digits', 'iloveyou1234', 'used most'],
    ['a row of keys', 'qwertyuiop12', 'used most'],
    ['a repetition', 'aaaaaaaaaaaaaa', 'repeats'],
    ['one word twice', 'passwordpassword', 'repeats itself'],
    ['a season, a year and signs', 'Summer2026!!', 'common word'],
    ['a month of another language', '!Februar-2027', 'common word'],
    ['a word in the middle', '!!2026Welcome2026', 'common word'],
    ['a sequence', 'abcdefghijkl', 'sequence'],
    ['the address', 'ada.lovelace@example.com', 'your name or address'],
    ['the name', 'AdaLovelace12', 'your name or address'],
    ['the service', 'gateway12345', 'easy to guess'],
  ])('may not be %s: %j', async (_, password, reason) => {
    expect(await passwordProblem(password, words)).toContain(reason);
  });

  it('is judged in seconds of the processor at most, however long it is', async () => {
    const before = process.cpuUsage();
    await passwordProblem('passw0rd-'.repeat(28), words);
    expect(process.cpuUsage(before).user).toBeLessThan(5_000_000);
  });
});
