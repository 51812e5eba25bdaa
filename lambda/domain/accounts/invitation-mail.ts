import { INVITATION_DAYS } from './invitation.ts';
import type { Role } from './permissions.ts';

/** The mail of an invitation. Of what people can write it has the inviter's mail address only. */
export const invitationMail = ({
  invitedBy,
  role,
  acceptUrl,
}: {
  readonly invitedBy: string;
  readonly role: Role;
  readonly acceptUrl: string;
}) => {
  const lines = [
    `${invitedBy} invites you to an account of the AI spend gateway, with the role "${role}".`,
    `The link works once, for ${INVITATION_DAYS} days. If you do not know the sender, ignore this mail.`,
  ];
  const paragraphs = lines.map((line) => `<p>${line.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</p>`);
  return {
    subject: 'You are invited to an AI spend account',
    text: [...lines, '', acceptUrl, ''].join('\n'),
    html: [
      '<!doctype html><html><body style="font-family:sans-serif">',
      ...paragraphs,
      `<p><a href="${acceptUrl}">Accept the invitation</a></p>`,
      '</body></html>',
    ].join('\n'),
  };
};
