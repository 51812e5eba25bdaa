import { describe, expect, it } from '@jest/globals';
import { PASSWORD_PATTERN } from '../../../lambda/domain/accounts/password-rules.ts';

describe('passwords', () => {
  it.each(['correct horse', 'пароль-длинный', '12345678a', 'pass word ü9', '😀😀😀😀😀😀😀a'])(
    'may be %j',
    (password) => {
      expect(password).toMatch(PASSWORD_PATTERN);
    },
  );

  it.each([
    ['only letters', 'correcthorse'],
    ['no letter', '12345678'],
    ['a space before', ' correct horse'],
    ['a space behind', 'correct horse '],
    ['a line break', 'correct\nhorse'],
    ['what no keyboard has', 'correct\u0000horse'],
  ])('may not have %s', (_, password) => {
    expect(password).not.toMatch(PASSWORD_PATTERN);
  });
});
