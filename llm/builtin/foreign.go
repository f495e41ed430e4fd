package builtin

// foreignStops are the small words of German, French, Spanish and Italian. They are
// left out of queries and scores; a word that means something in one of the languages
// and nothing in another is not among them.
var foreignStops = wordSet(`
aber alle als also am an auch auf aus bei beim bin bis bist da dabei damit dann das dass dein dem den der des
deren dessen die dies diese diesem diesen dieser dieses doch dort du durch ein eine einem einen einer eines er es
etwa für gegen hat hatte hatten haben hier ich ihm ihn ihnen ihr ihre ihrem ihren ihrer ihres im in ins ist ja
jede jeder jedes kann kein keine können man mehr mein mich mir mit muss nach nicht noch nur ob oder ohne sehr sein
seine seinem seinen seiner sich sie sind so über um und uns unter viel vom von vor war waren warum was wegen weil
welche welcher welches wenn wer werden wie wieder wird wir wo wurde wurden zu zum zur zwischen
au aux avec ce ces cet cette comment dans de depuis des du elle elles en entre est et eu il ils je la le les leur
leurs lui mais même ne nous ont ou où par pas plus pour pourquoi qu quand que quel quelle quelles quels qui sa
sans se ses sont sur une un vous été être avoir fait
al como cómo con cuál cuáles cuándo del desde donde dónde el ella ellos entre era es esta este estos fue fueron ha
han hay la las lo los más muy no para pero por porque qué quién según sin sobre su sus también un una unos y ya
agli alla alle anche che chi come con cosa da dal dalla degli dei del della delle di dove gli ha hanno ho il io lo
loro nel nella non per perché più quale quali quando questo questa se si sono sua suo tra un una uno è`)
